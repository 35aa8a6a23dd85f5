"""What holds without exception in every capture must hold in the columns that are made of it.

The sums of a capture come from its writer (code.json, occupancy.json, wstates) or are counted without this
program (`Measured`): of simulated captures by plain loops over their files, which `counted` makes.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.waits.waitcnt.replay import replay, waits
from rcv_py.base.problems import Problems
from rcv_py.base.runs import borders
from rcv_py.formats.derived.totals import state_curves, totals
from rcv_py.formats.derived.waits import wait_lists
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.folder import listing
from rcv_py.formats.uiout.side_files import read_state_curves
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.synth.samples import SAMPLES
from tests.support.fixtures import fixture_of_each
from tests.support.made_captures import write_large
from tests.support.opened import load_all
from tests.support.samples import sample
from tests.synth.folder import Folder

FAR = 1 << 44  # more cycles than any capture has: keeps waves apart where they are handled together
BEFORE = -1 << 60


class Measured(NamedTuple):
    """Numbers of a capture; the last four are cycles, but for `late`, which is waves."""

    waves: int
    tokens: int
    rows: int
    unexecuted: int
    residents: int
    latency: int
    stall: int
    idle: int
    overlap: int  # of tokens with what came before
    overrun: int  # tokens end after the wave
    tail: int  # the wave ends after its tokens
    late: int  # waves with an overrun


@dataclass(frozen=True, eq=False)
class Loaded:
    """A capture with all its waves, and their tokens one wave behind the other; times are not aligned."""

    known: Measured
    trace: Trace
    waves: tuple[TracedWave, ...]  # by index row
    bad: tuple  # what batches say of waves that are missing or doubtful

    def column(self, name: str) -> np.ndarray:
        """A token column of all waves, int64."""
        return np.concatenate([getattr(wave.tokens, name) for wave in self.waves]).astype(np.int64)

    @cached_property
    def count(self) -> np.ndarray:
        """Tokens of each wave."""
        return np.array([len(wave.tokens) for wave in self.waves])

    @cached_property
    def owner(self) -> np.ndarray:
        """The wave of each token."""
        return np.repeat(np.arange(len(self.waves)), self.count)

    @cached_property
    def last(self) -> np.ndarray:
        """The last token of each wave."""
        return np.cumsum(self.count) - 1

    @cached_property
    def offset(self) -> np.ndarray:
        """What alignment added to each wave."""
        return np.array([self.trace.clock.offsets.get(wave.id.se, 0) for wave in self.waves])

    @cached_property
    def begin(self) -> np.ndarray:
        return np.array([wave.begin for wave in self.waves]) - self.offset

    @cached_property
    def end(self) -> np.ndarray:
        return np.array([wave.end for wave in self.waves]) - self.offset

    @cached_property
    def start(self) -> np.ndarray:
        return self.column("start") - self.offset[self.owner]

    @cached_property
    def duration(self) -> np.ndarray:
        return self.column("duration")

    @cached_property
    def reached(self) -> np.ndarray:
        """The latest end of a wave before each of its tokens; its begin before the first."""
        apart = self.owner * FAR
        ends = np.maximum.accumulate(self.start + self.duration + apart)
        before = np.append(BEFORE, ends[:-1])
        return np.maximum(before, self.begin[self.owner] + apart) - apart


def load(path: Path, known: Measured) -> Loaded:
    """Open a capture, and read all of it."""
    trace = open_trace(path)
    batches = load_all(trace, workers=0)
    waves = sorted((wave for batch in batches for wave in batch.waves), key=lambda wave: wave.row)
    bad = tuple(text for batch in batches for text in (*batch.missing, *batch.notes))
    return Loaded(known, trace, tuple(waves), bad)


@cache
def simulated(name: str) -> Loaded:
    """A sample, or a large folder, with what its truth and its files say."""
    if name == "large":
        with TemporaryDirectory() as place:
            write_large(Path(place), waves=72, seed=1, tokens_per_wave=400)  # twice on all engines
            return load(Path(place), counted(Folder(Path(place))))
    path, truth = sample(name)
    known = counted(Folder(path))
    total = tuple(int(one) for one in truth.lines.sum(axis=0))
    assert (known.tokens, known.latency, known.stall, known.idle) == total
    assert (known.waves, known.residents) == (len(truth.waves), len(truth.residencies))
    return load(path, known)


SAMPLED = tuple(name for name in SAMPLES if not name.startswith(("pc_sampling", "placeholder")))
ALL = (*SAMPLED, "large")
WITHOUT_LISTS = ("events", "scripted_gfx12", "large")  # of waits, and curves of states
loaded = fixture_of_each(simulated, ALL)
with_lists = fixture_of_each(simulated, [name for name in ALL if name not in WITHOUT_LISTS])
# Of the straggler half of the SIMDs were traced, and packed occupancy has coarser times.
whole = fixture_of_each(simulated, [name for name in ALL if name not in ("straggler", "packed")])


def counted(folder: Folder) -> Measured:
    """Count what the files of a capture hold, token by token."""
    hits = dict.fromkeys(folder.row_of, 0)
    latency = stall = idle = overlap = overrun = tail = late = 0
    for file in folder.waves.values():
        wave = file["wave"]
        reached = wave["begin"]
        for time, _, stalled, duration, line in wave["instructions"]:
            hits[line] += 1
            latency, stall = latency + duration, stall + stalled
            idle, overlap = idle + max(0, time - reached), overlap + min(duration, max(0, reached - time))
            reached = max(reached, time + duration)
        overrun, tail = overrun + max(0, reached - wave["end"]), tail + max(0, wave["end"] - reached)
        late += reached > wave["end"]
    return Measured(
        waves=len(folder.waves),
        tokens=sum(hits.values()),
        rows=len(folder.code),
        unexecuted=sum(not count for count in hits.values()),
        residents=sum(map(len, folder.events.values())) // 2,
        latency=latency,
        stall=stall,
        idle=idle,
        overlap=overlap,
        overrun=overrun,
        tail=tail,
        late=late,
    )


def sums(line: np.ndarray, values: np.ndarray, n: int) -> list[int]:
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, line, values)
    return total.tolist()


def test_the_size_of_the_capture_is_what_others_counted(loaded):
    known, code = loaded.known, loaded.trace.code
    assert len(loaded.trace.waves) == len(loaded.waves) == known.waves
    assert int(loaded.count.sum()) == int(code.hits.sum()) == known.tokens
    assert (len(code), int(np.count_nonzero(code.hits == 0))) == (known.rows, known.unexecuted)
    assert len(loaded.trace.occupancy) == 2 * known.residents


def test_totals_of_the_code_are_sums_over_tokens(loaded):
    code, line, n = loaded.trace.code, loaded.column("line"), len(loaded.trace.code)
    assert sums(line, np.ones_like(line), n) == code.hits.tolist()
    assert sums(line, loaded.duration, n) == code.latency.tolist()
    assert sums(line, loaded.column("stall"), n) == code.stall.tolist()
    assert sums(line, np.maximum(0, loaded.start - loaded.reached), n) == code.idle.tolist()
    known = loaded.known
    totals = tuple(int(column.sum()) for column in (code.latency, code.stall, code.idle))
    assert totals == (known.latency, known.stall, known.idle)


def test_what_is_derived_from_records_is_what_the_writer_wrote(with_lists):
    """As a raw capture's totals, curves and waits are derived."""
    code, waves, line = with_lists.trace.code, with_lists.waves, with_lists.column("line")
    first = borders(with_lists.count)
    made = totals(
        line,
        first=first,
        begin=with_lists.begin,
        time=with_lists.start,
        stall=with_lists.column("stall"),
        duration=with_lists.duration,
        rows=len(code),
    )
    for name in ("hits", "latency", "stall", "idle"):
        assert getattr(made, name).tolist() == getattr(code, name).tolist()

    curves = state_curves(
        np.concatenate([wave.states.state for wave in waves]),
        np.concatenate([wave.states.duration for wave in waves]),
        first=borders([len(wave.states) for wave in waves]),
        begin=np.array([wave.states.base for wave in waves]) - with_lists.offset,
    )
    written = read_state_curves(listing(with_lists.trace.path), Problems())
    assert [curve.state for curve in curves] == [curve.state for curve in written]
    for mine, theirs in zip(curves, written, strict=True):
        assert mine.time.tolist() == theirs.time.tolist()
        assert mine.waves.tolist() == theirs.waves.tolist()

    lists = wait_lists(line, first, code.text, with_lists.trace.gfxip)
    listed = [wave.waits for wave in waves if wave.waits is not None]
    assert line[lists.token].tolist() == np.concatenate([one.line for one in listed]).tolist()
    assert np.diff(lists.first).tolist() == np.concatenate([np.diff(one.first) for one in listed]).tolist()
    assert line[lists.producers].tolist() == np.concatenate([one.depends_on for one in listed]).tolist()


def test_names_index_and_files_agree(loaded):
    assert loaded.bad == ()
    index = loaded.trace.waves
    assert list(index.file) == [
        f"se{w.id.se}_sm{w.id.simd}_sl{w.id.slot}_wv{w.id.wid}.json" for w in loaded.waves
    ]
    assert index.begin.tolist() == [wave.begin for wave in loaded.waves]
    assert index.end.tolist() == [wave.end for wave in loaded.waves]


def test_states_last_from_the_begin_to_the_last_end(loaded):
    last_end = (loaded.start + loaded.duration)[loaded.last]
    length = np.array([wave.states.length for wave in loaded.waves])
    assert length.tolist() == (np.maximum(loaded.end, last_end) - loaded.begin).tolist()
    assert [wave.states.base for wave in loaded.waves] == [wave.begin for wave in loaded.waves]
    assert set(np.unique(np.concatenate([wave.states.state for wave in loaded.waves])).tolist()) <= {
        1, 2, 3, 4,
    }  # fmt: skip


def test_every_cycle_of_a_wave_is_latency_or_idle(loaded):
    known = loaded.known
    overlap = int(np.clip(loaded.reached - loaded.start, 0, loaded.duration).sum())
    ends = np.maximum(loaded.reached, loaded.start + loaded.duration)[loaded.last]
    beyond = ends - loaded.end
    overrun, tail = int(np.maximum(0, beyond).sum()), int(np.maximum(0, -beyond).sum())
    assert (overlap, overrun, tail) == (known.overlap, known.overrun, known.tail)
    assert int(np.count_nonzero(beyond > 0)) == known.late
    code = loaded.trace.code
    cycles = int((loaded.end - loaded.begin).sum()) + overlap + overrun - tail
    assert int(code.latency.sum() + code.idle.sum()) == cycles


def test_state_curves_of_the_writer_are_steps_of_the_states(with_lists):
    start = np.concatenate([wave.states.start for wave in with_lists.waves])
    length = np.concatenate([wave.states.duration for wave in with_lists.waves])
    state = np.concatenate([wave.states.state for wave in with_lists.waves])
    start -= np.repeat(
        with_lists.offset, [len(wave.states) for wave in with_lists.waves]
    )  # the writer does not align
    problems = Problems()
    curves = read_state_curves(listing(with_lists.trace.path), problems)
    assert problems == []
    assert {curve.state for curve in curves} == set(np.unique(state).tolist())
    for curve in curves:
        mine = state == curve.state
        moments = np.concatenate([start[mine], start[mine] + length[mine]])
        time, place = np.unique(moments, return_inverse=True)
        change = np.zeros(len(time), dtype=np.int64)
        np.add.at(change, place, np.repeat([1, -1], np.count_nonzero(mine)))
        assert curve.time.tolist() == time.tolist()
        assert curve.waves.tolist() == np.cumsum(change).tolist()


def test_waits_of_the_files_are_what_a_replay_finds(with_lists):
    piece = of_waves(with_lists.waves)
    found = waits(replay(piece, with_lists.trace.code, with_lists.trace.architecture), piece.line)
    listed = [wave.waits for wave in with_lists.waves if wave.waits is not None]
    assert found.line.tolist() == np.concatenate([one.line for one in listed]).tolist()
    assert np.diff(found.first).tolist() == np.concatenate([np.diff(one.first) for one in listed]).tolist()
    assert found.depends_on.tolist() == np.concatenate([one.depends_on for one in listed]).tolist()


def test_waves_are_the_residents_of_the_traced_unit(whole):
    events, index = whole.trace.occupancy, whole.trace.waves
    place = [getattr(events, name).astype(np.int64) for name in ("se", "sa", "cu", "simd", "slot")]
    order = np.lexsort((events.is_start, events.time, *reversed(place)))
    begins, ends = order[::2], order[1::2]
    assert events.is_start[begins].all()
    assert not events.is_start[ends].any()
    assert all(np.array_equal(column[begins], column[ends]) for column in place)
    units = set(zip(index.se.tolist(), index.sa.tolist(), index.cu.tolist(), strict=True))
    simds = set(range(4)) if whole.trace.gfxip == 9 else set(index.simd.tolist())  # of RDNA one is traced
    rows = zip(
        *(column[begins].tolist() for column in place),
        events.time[begins].tolist(),
        events.time[ends].tolist(),
        strict=True,
    )
    residents = sorted(
        (se, simd, slot, t0, t1)
        for se, sa, cu, simd, slot, t0, t1 in rows
        if (se, sa, cu) in units and simd in simds
    )
    columns = (index.se, index.simd, index.slot, index.begin, index.end)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == residents
    assert set(events.kernel[begins].tolist()) == set(index.kernel.tolist())
    assert index.cu.tolist() == [wave.cu for wave in whole.waves]


def test_waves_of_a_slot_follow_each_other(loaded):
    index = loaded.trace.waves
    same = np.ones(len(index) - 1, dtype=bool)
    for column in (index.se, index.simd, index.slot):
        same &= column[1:] == column[:-1]
    expected = np.zeros(len(index), dtype=np.int64)
    for row in np.flatnonzero(same).tolist():
        expected[row + 1] = expected[row] + 1
    assert index.wid.tolist() == expected.tolist()
    assert (index.begin[1:] - index.end[:-1])[same].min(initial=28) >= 28


def test_tokens_have_a_line_and_a_wave_ends_with_s_endpgm(loaded):
    code, line = loaded.trace.code, loaded.column("line")
    assert line.min() >= 0
    assert not code.is_label[line].any()
    ends = np.array([text.startswith("s_endpgm") for text in code.text])[line]
    assert np.flatnonzero(ends).tolist() == loaded.last.tolist()


def test_waiting_is_all_that_an_immediate_token_does(loaded):
    busy, kind = loaded.column("busy"), loaded.column("kind")
    assert not busy[kind == TokenKind.IMMED].any()
    assert (busy[kind != TokenKind.IMMED] > 0).all()


def test_matrix_tokens_are_those_with_a_matrix_instruction(loaded):
    is_matrix = np.array(
        [text.startswith(("v_mfma", "v_smfma", "v_wmma")) for text in loaded.trace.code.text]
    )
    found = loaded.column("kind") == TokenKind.MATRIX
    assert np.array_equal(found, is_matrix[loaded.column("line")])


def test_the_kind_of_a_token_is_that_of_its_instruction(loaded):
    kind, line = loaded.column("kind"), loaded.column("line")
    kind[kind == TokenKind.NEXT] = TokenKind.JUMP  # the same instruction, by outcome
    said = loaded.trace.code.kind[line]
    differ = {loaded.trace.code.text[row].split()[0] for row in set(line[kind != said].tolist())}
    # The simulator records barriers of RDNA as waits, where streams of the hardware tell a message.
    allowed = {9: set(), 11: {"s_barrier"}, 12: {"s_barrier_signal"}}
    assert differ <= allowed[loaded.trace.gfxip]


def test_tokens_begin_one_after_the_other_and_time_has_steps_of_4_on_gfx9(loaded):
    same = loaded.owner[1:] == loaded.owner[:-1]
    assert (np.diff(loaded.start)[same] > 0).all()
    columns = (loaded.start, loaded.duration, loaded.column("stall"), loaded.begin, loaded.end)
    assert any((column % 4).any() for column in columns) == (loaded.trace.gfxip != 9)
