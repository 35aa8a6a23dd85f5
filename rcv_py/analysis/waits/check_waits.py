"""Whether the wait lists of wave files are those of the instructions in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.waits.waitcnt.generations import is_gfx1250
from rcv_py.analysis.waits.waitcnt.replay import replay, waits
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import count, plural
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.tokens import Waits
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave


def wait_lists(trace: Trace, waves: Sequence[Wave]) -> Problem | None:
    """Return what is wrong with the lists, None if they are what a replay by the writer's own rules finds.

    Waves without a list, and those with instructions that are not in the code table, are not looked at; nor
    are programs of gfx12 with instructions on which the writer and the reference viewer disagree.
    """
    texts = trace.code.text
    if trace.gfxip >= 12 and (is_gfx1250(texts) or any("_prefetch" in text for text in texts)):
        return None
    listed = [wave for wave in waves if wave.waits is not None and len(wave.waits) and _is_whole(wave, texts)]
    if not listed or _made(trace, listed) == _joined(
        [wave.waits for wave in listed if wave.waits is not None]
    ):
        return None
    wrong = [
        wave for wave in listed if wave.waits is not None and _made(trace, [wave]) != _joined([wave.waits])
    ]
    if not wrong:
        return None
    text = (
        f"The wait lists of {plural(len(wrong), 'wave')} of {count(len(listed))} are not those of their "
        f"instructions, first {wrong[0].id}."
    )
    hint = "They are not used: waits are derived from the instructions."
    return Problem(Severity.INFO, "waves", text, hint)


def _is_whole(wave: Wave, texts: Sequence[str]) -> bool:
    line = wave.tokens.line
    return bool(len(line)) and int(line.min()) >= 0 and int(line.max()) < len(texts)


def _made(trace: Trace, waves: Sequence[Wave]) -> tuple[bytes, ...]:
    piece = of_waves(waves)
    links = replay(piece, trace.code, trace.gfxip, trace.target, ReferenceRule.REFERENCE)
    return _joined([waits(links, piece.line)])


def _joined(lists: Sequence[Waits]) -> tuple[bytes, ...]:
    """The lists of several waves as something that can be compared; int64 columns as bytes."""
    columns = (
        np.concatenate([one.line for one in lists]),
        np.concatenate([np.diff(one.first) for one in lists]),
        np.concatenate([one.depends_on for one in lists]),
    )
    return tuple(column.astype(np.int64).tobytes() for column in columns)
