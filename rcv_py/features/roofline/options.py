"""The options of `rcv roofline`."""

from __future__ import annotations

from rcv_py.cli.options import shared


class RooflineOptions(shared.OfWaves, shared.WithRunFiles, example="rcv roofline FOLDER"):
    """Show how near the kernel and its loops come to their roofs."""
