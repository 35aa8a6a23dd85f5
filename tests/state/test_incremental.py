"""Answers that run along: every wave is mapped once, whatever comes, goes and comes back."""

from collections import Counter

import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.base.errors import Cancelled
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.state.incremental import AnswerFlag, IncrementalAnswer
from rcv_py.state.wave_store import WaveStore
from tests.analysis import build
from tests.analysis.in_memory import all_lines
from tests.support.equal import differences
from tests.support.fixtures import fixture_of
from tests.support.read_twice import opened
from tests.support.samples import sample_path

trace = fixture_of(lambda: opened(sample_path("gfx12"))[0], scope="module")


@pytest.fixture(scope="module")
def waves(trace: Trace) -> list[TracedWave]:
    return [wave for batch in opened(trace.path)[1] for wave in batch.waves]


class Counted:
    """A running sum over lines that notes which waves were mapped, and how many have counted."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.mapped, self.fails = trace, Counter[int](), False
        self.running = IncrementalAnswer(trace, replace(LINES, map=self._map))

    def _map(self, trace: Trace, parcel: Parcel) -> object:
        if self.fails:
            raise RuntimeError("no luck")
        self.mapped.update(wave.row for wave in parcel.tokens.waves)
        return LINES.map(trace, parcel)

    def is_of(
        self, batches: list[WaveBatch], all_: list[WaveBatch], rows: object = None, **how: bool
    ) -> bool:
        """Whether the answer for `batches` is that of the waves of `all_` with these rows."""
        found = self.running.of(batches, rows, **how)  # type: ignore[arg-type]
        return not differences(found, all_lines(all_, len(self.trace.code), rows))  # type: ignore[arg-type]


def test_an_arrival_costs_what_arrived(trace: Trace, waves: list[TracedWave]) -> None:
    counted, here = Counted(trace), []
    for wave in waves:
        here.append(build.batch(wave))
        assert counted.is_of(here, here)
        assert counted.is_of(here, here), "asking again changes nothing"
    assert counted.mapped == Counter(wave.row for wave in waves)


def test_dropped_waves_stay_and_count_once_when_they_come_back(trace: Trace, waves: list[TracedWave]) -> None:
    counted, batches = Counted(trace), [build.batch(*waves[at : at + 2]) for at in range(0, len(waves), 2)]
    assert counted.is_of(batches[:2], batches[:2])
    assert counted.is_of(batches[2:3], batches[:3])
    again = build.batch(*waves[1:4], waves[7])  # of two batches that were counted, and one of another
    assert counted.is_of([again], [*batches[:3], build.batch(waves[7])])
    assert counted.is_of([*batches, again], batches)
    assert counted.mapped == Counter(wave.row for wave in waves)


def test_another_choice_begins_anew_and_the_same_one_goes_on(trace: Trace, waves: list[TracedWave]) -> None:
    counted, batches = Counted(trace), [build.batch(wave) for wave in waves]
    odd = {wave.row for wave in waves[1::2]}
    assert counted.is_of(batches[:4], batches[:4], odd)
    assert counted.is_of(batches, batches, odd)
    assert max(counted.mapped.values()) == 1
    assert counted.is_of(batches, batches)
    assert counted.mapped == Counter({wave.row: 2 for wave in waves})
    assert counted.is_of(batches, batches, {wave.row for wave in waves}), "another name for all of them"
    assert max(counted.mapped.values()) == 2


def test_a_choice_that_changes_with_every_arrival_costs_a_few_times(
    trace: Trace, waves: list[TracedWave]
) -> None:
    counted, batches = Counted(trace), [build.batch(wave) for wave in waves]
    for upto in range(1, 9):
        counted.running.of(batches[:upto], {waves[upto - 1].row}, is_streaming=True)
    assert sum(counted.mapped.values()) <= 3 * 8
    last = {waves[3].row, waves[7].row}
    assert counted.is_of(batches, batches, last), "nothing is on its way any more: exact"


def took(running: IncrementalAnswer, trace: Trace, batch: WaveBatch, rows: object = None) -> None:
    """Have the part of a batch, of which rows count, as if a process had mapped it."""
    here = frozenset(wave.row for wave in batch.waves)
    chosen = here if rows is None else here & rows  # type: ignore[operator]
    running.chosen = chosen
    running.take(here, *LINES.each(trace, [batch], chosen))


def test_what_was_mapped_elsewhere_is_taken_over(trace: Trace, waves: list[TracedWave]) -> None:
    counted, batches = Counted(trace), [build.batch(*waves[at : at + 2]) for at in range(0, len(waves), 2)]
    for batch in (*batches[:3], batches[0]):  # one of them once more
        took(counted.running, trace, batch)
    assert counted.is_of(batches, batches)
    assert counted.mapped == Counter(wave.row for wave in waves[6:])


def test_what_was_mapped_of_a_batch_not_asked_for_yet_waits(trace: Trace, waves: list[TracedWave]) -> None:
    counted, batches = Counted(trace), [build.batch(wave) for wave in waves[:2]]
    took(counted.running, trace, batches[0])
    took(counted.running, trace, batches[1])
    assert counted.is_of(batches[:1], batches[:1])
    assert counted.is_of(batches, batches)
    assert not counted.mapped


def test_what_was_mapped_for_other_waves_is_not_taken(trace: Trace, waves: list[TracedWave]) -> None:
    counted, batches = Counted(trace), [build.batch(*waves[at : at + 2]) for at in range(0, 4, 2)]
    odd = {wave.row for wave in waves[1::2]}
    took(counted.running, trace, batches[0])
    took(counted.running, trace, batches[1], odd)
    assert counted.is_of(batches, batches, odd)
    assert counted.mapped == Counter(wave.row for wave in waves[:2])


class Again:
    """Waves that left the memory, and which of them were read again."""

    def __init__(self, trace: Trace, waves: list[TracedWave]) -> None:
        self.trace, self.waves, self.read = trace, waves, list[int]()
        self.presses: str = ""  # what happens meanwhile

    def __call__(self, reduction: Reduction[object, object], rows: list[int], flag: AnswerFlag) -> object:
        if self.presses == "cancel":
            flag.set()
        if self.presses == "elsewhere":
            flag.end()
        flag.check()
        self.read += rows
        batch = build.batch(*(wave for wave in self.waves if wave.row in rows))
        return reduction.merge([*reduction.each(self.trace, [batch])])


def test_a_choice_made_later_counts_waves_that_left_the_memory(trace: Trace, waves: list[TracedWave]) -> None:
    again = Again(trace, waves)
    running = IncrementalAnswer(trace, LINES, again)
    here, gone = [build.batch(*waves[:2])], frozenset(wave.row for wave in waves[2:])
    odd = frozenset(wave.row for wave in waves[1::2])
    everything = build.batch(*waves)
    for rows in (odd, None):
        running.of(here, rows, absent=gone, is_streaming=True)
        assert not again.read, "more may come: not yet"
        for _ in range(2):
            found = running.of(here, rows, absent=gone)
            assert not differences(found, all_lines([everything], len(trace.code), rows))
        assert sorted(again.read) == sorted(gone if rows is None else gone & odd), "each once"
        again.read.clear()


def test_a_cancelled_second_reading_may_be_tried_again(trace: Trace, waves: list[TracedWave]) -> None:
    again, here = Again(trace, waves), [build.batch(*waves[:2])]
    running, gone = IncrementalAnswer(trace, LINES, again), frozenset(wave.row for wave in waves[2:])
    again.presses = "cancel"
    assert not differences(running.of(here, absent=gone), all_lines(here, len(trace.code)))
    again.presses = ""
    whole = all_lines([build.batch(*waves)], len(trace.code))
    assert not differences(running.of(here, absent=gone), whole)


def test_an_answer_that_nobody_wants_any_more_ends(trace: Trace, waves: list[TracedWave]) -> None:
    again, here = Again(trace, waves), [build.batch(*waves[:2])]
    again.presses = "elsewhere"
    with pytest.raises(Cancelled):
        IncrementalAnswer(trace, LINES, again).of(here, absent={wave.row for wave in waves[2:]})


def test_a_mistake_counts_nothing(trace: Trace, waves: list[TracedWave]) -> None:
    counted, batches = Counted(trace), [build.batch(wave) for wave in waves]
    assert counted.is_of(batches[:3], batches[:3])
    counted.fails = True
    with pytest.raises(RuntimeError, match="no luck"):
        counted.running.of(batches)
    counted.fails = False
    assert counted.is_of(batches, batches)


def test_the_store_keeps_one_answer_a_name_until_its_key_changes(trace: Trace) -> None:
    store = WaveStore(trace)
    one = store.running("lines", LINES, 1)
    assert store.running("lines", LINES, 1) is one
    assert store.running("others", LINES, 1) is not one
    assert store.running("lines", LINES, 2) is not one


class Noted:
    """Maps parcels of waves, and closes the capture after the first."""

    def __init__(self, store: WaveStore) -> None:
        self.store, self.parcels = store, 0

    def __call__(self, trace: Trace, parcel: Parcel) -> object:
        self.parcels += 1
        self.store.end_answers()
        return LINES.map(trace, parcel)


@pytest.mark.parametrize("is_together", [False, True])
def test_closing_a_capture_ends_what_is_made_of_its_waves_between_two_parcels(
    trace: Trace, waves: list[TracedWave], monkeypatch: pytest.MonkeyPatch, is_together: bool
) -> None:
    monkeypatch.setattr(Reduction.each, "__defaults__", (None, 1))  # a slab a wave
    store = WaveStore(trace)
    for wave in waves:
        store.add(build.batch(wave))
    noted = Noted(store)
    reduction = replace(LINES, map=noted, is_together=is_together)
    with pytest.raises(Cancelled):
        store.snapshot().of_all(reduction, None, AnswerFlag())
    assert noted.parcels == 1
    noted.parcels, other = 0, WaveStore(trace)
    for wave in waves:
        other.add(build.batch(wave))
    noted.store = other
    with pytest.raises(Cancelled):
        other.snapshot().incremental("lines", replace(LINES, map=noted))(None)
    assert noted.parcels == 1
