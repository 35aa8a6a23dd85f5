"""What waves of a decoded stream did, as plain rows."""

from typing import Any

import numpy as np

from rcv_py.formats.sqtt.records import DecodedStream


def records(stream: DecodedStream, wave: int = 0) -> list[list[int]]:
    """Time, kind, stall and duration of what it issued."""
    return _rows(stream, "token_first", wave, "time", "kind", "stall", "duration")


def states(stream: DecodedStream, wave: int = 0) -> list[list[int]]:
    """State and cycles of what it did."""
    return _rows(stream, "state_first", wave, "state", "state_duration")


def breaks(stream: DecodedStream, wave: int = 0) -> list[list[int]]:
    """Token and address of where it went on elsewhere."""
    return _rows(stream, "break_first", wave, "break_token", "break_address")


def waves(stream: DecodedStream) -> list[tuple[object, ...]]:
    """Place, begin, end, whether it is complete, entry, records and states of all waves, sorted."""
    told = stream.waves
    return sorted(
        (
            *(int(column[row]) for column in (told.cu, told.simd, told.slot, told.begin, told.end)),
            bool(told.is_complete[row]),
            int(told.entry[row]),
            records(stream, row),
            states(stream, row),
        )
        for row in range(len(told))
    )


def known_waves(truth: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """The same of waves that are known."""
    return sorted(
        (
            *(wave[key] for key in ("cu", "simd", "slot", "begin", "end", "complete")),
            wave["entry"][0],
            [[time, kind, stall, duration] for time, kind, _, stall, duration in wave["insts"]],
            wave["timeline"],
        )
        for wave in truth
    )


def _rows(stream: DecodedStream, first: str, wave: int, *names: str) -> list[list[int]]:
    own = slice(*getattr(stream.waves, first)[wave : wave + 2])
    columns = [getattr(stream.waves, name)[own].astype(np.int64) for name in names]
    rows: list[list[int]] = np.stack(columns, axis=1).tolist()
    return rows
