"""Data about a selected instruction: its facts, other waves of its SIMD."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rcv_py.analysis.attribution.attribute import token_causes, uncounted_beside
from rcv_py.analysis.attribution.instruction_help import instruction_help
from rcv_py.analysis.cost.pc_samples import stall_reasons
from rcv_py.analysis.timeline.token_details import (
    NO_OTHER_WAVES,
    Meanwhile,
    line_totals,
    meanwhile,
    producers,
    token_details,
    waiters,
)
from rcv_py.analysis.waits.token_waits import token_waits
from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.base.errors import RcvError
from rcv_py.base.text import Message, plural
from rcv_py.features.line.token_facts import TokenFacts
from rcv_py.formats.isa.described import IsaDescription, read_description
from rcv_py.formats.isa.kept_docs import words_of
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.context import UiContext

if TYPE_CHECKING:  # it imports a compiler
    pass


def facts_job(ui: UiContext) -> Callable[[], TokenFacts]:
    """Return a function that collects the facts of the selected instruction; it touches no mutable state."""
    session = ui.session
    trace, line, hit, store = session.trace.value, session.line, session.selection.value.hit, session.store
    assert trace is not None
    assert line is not None
    wave, token = session.wave(), session.token()
    batches = () if store is None else store.batches
    file = str(ui.settings["isa.description"])

    def job() -> TokenFacts:
        facts = TokenFacts(line, line_totals(trace.code, line))
        if not trace.code.is_label[line]:
            known = instruction_help(trace.code.text[line], trace.architecture, trace.code.text)
            facts = facts._replace(help=known, described=described(file, trace.target, known.mnemonic))
        if trace.has_pc_samples:
            samples = stall_reasons(trace.code, slice(line, line + 1))
            facts = facts._replace(samples=samples, all_samples=stall_reasons(trace.code).samples)
        if wave is None:
            return facts
        facts = facts._replace(wave=str(wave.id))
        if token is not None:
            exact = token_waits(*token, trace.code, trace.architecture)
            hidden = hidden_by(store, *token)
            facts = facts._replace(token=token_details(*token), waits=exact, hidden=hidden)
            causes, left_out = token_causes(trace, batches, *token), uncounted_beside(trace, batches, wave)
            doubt = Message("partial: {0} beside it not in memory", plural(left_out, "wave"))
            return facts._replace(causes=causes, doubts=(doubt,) if causes and left_out else ())
        waits = waits_of(wave, trace.code, trace.architecture)
        late = producers(waits, line, hit, len(wave.executions(line)))
        return facts._replace(producers=late, waiters=waiters(waits, line))

    return job


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
