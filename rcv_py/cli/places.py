"""Where lines and waves of a capture are, as commands write and read it."""

from __future__ import annotations

from rcv_py.analysis.places import source_of, wave_row

__all__ = ["source_of", "wave_row"]
