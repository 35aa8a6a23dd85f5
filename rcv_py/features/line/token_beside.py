"""Data related to a selected instruction: other waves of its SIMD, and the replay without its cost."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rcv_py.analysis.timeline.meanwhile import NO_OTHER_WAVES, Meanwhile, meanwhile
from rcv_py.analysis.whatif.changes import Change, Free, Latency
from rcv_py.base.errors import RcvError
from rcv_py.base.text import Message, count
from rcv_py.features.whatif.result import signed
from rcv_py.formats.isa.described import IsaDescription, read_description
from rcv_py.formats.isa.kept_docs import words_of
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.plain_text import Rich, joined, rich

if TYPE_CHECKING:  # it imports a compiler
    from rcv_py.analysis.whatif.predict import Prediction

TITLE = "If it were free"


def hidden_by(store: WaveStore | None, wave: TracedWave, row: int) -> Meanwhile:
    """Return what other waves on the SIMD issued during a stall, as far as they are in memory."""
    if store is None:
        return NO_OTHER_WAVES
    tokens = wave.tokens
    begin = tokens.base + int(tokens.offset[row])
    span = TimeWindow(begin, begin + int(tokens.stall[row]))
    if not span.width:
        return NO_OTHER_WAVES
    index = store.trace.waves
    is_here = (index.se == wave.id.se) & (index.simd == wave.id.simd)
    is_here &= (index.begin < span.end) & (index.end > span.begin)
    found = (store.wave(one) for one in np.flatnonzero(is_here).tolist())
    return meanwhile(wave, [one for one in found if one is not None], span)


def described(file: str, target: str, mnemonic: str) -> str:
    """Return a machine-readable ISA file's description of a mnemonic, or why it is unreadable; "" for none.

    Without a file it uses the file that `rcv isa-docs add` stored for the family of a target.  The file is
    read once: do not call it on the UI thread.
    """
    try:
        words = _description(file) if file else words_of(target)
    except RcvError as error:
        return str(error)
    found = None if words is None else words.of(mnemonic)
    return "" if found is None else found.description


@lru_cache(maxsize=1)
def _description(file: str) -> IsaDescription:
    return read_description(Path(file))


def trials(line: int, *, is_operation: bool) -> dict[str, tuple[Change, ...]]:
    """Return the experiments with an instruction, by their description."""
    free = {"it took no time": (Free((line,)),)}
    return free | ({"its data came at once": (Latency((line,), cycles=0),)} if is_operation else {})


def replay_html(found: dict[str, Prediction] | None, *, is_playing: bool, why_not: str) -> Rich:
    """Return the predicted effect of removing an instruction's cost; while unknown, a link to request it."""
    if why_not:
        said = rich("<span class='q'>{}</span>", why_not)
    elif is_playing:
        said = rich("<span class='q'>Playing the recording again …</span>")
    elif found is None:
        said = rich("<a href='play:0'>Play the recording without its cost</a>")
    else:
        rows = [
            rich("If {}: <b>{}</b> <span class='q'>({} to {})</span>", what, *map(signed, numbers))
            for what, one in found.items()
            for numbers in ((one.share, one.low, one.high),)
        ]
        played = max((one.tokens for one in found.values()), default=0)
        of = Message(
            "of the span of the traced compute units, predicted by playing {0} instructions", count(played)
        )
        link = rich("<a href='try:0'>Try it in What if</a>")
        said = rich("{}<br><span class='q'>{}; no promise.</span><br>{}", joined("<br>", rows), of, link)
    return rich("<h4>{}</h4>{}", TITLE, said)
