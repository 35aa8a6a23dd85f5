"""Raw streams of gfx9, written from what decoded waves say: the other way round than the decoder.

A `Tape` takes tokens at their times, in any order, and lays them down with the time between them.  `played`
puts a decoded wave on it: when it must have stalled and issued, and when the unit must have told which kind
an instruction was, so that a decoder finds the same columns.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Row = Sequence[int]
MSG, IMMED, VALU = 11, 9, 6
CLOCK = 4  # cycles of a step of the stream's time
KIND_OF = {1: 0, 2: 1, 3: 2, 4: 14, 5: 6, 6: 5, 7: 12, 8: 13, 11: 15}  # category → what the unit tells
STEPS_LATE = {1: 5, 2: 5, 6: 2, 5: 1, 7: 1, 8: 1, 11: 1}  # category → steps after which it tells; else 0
FIRST_PHASE = 15
IDLE, EXEC, WAIT, STALL = 1, 2, 3, 4
STALLS, ISSUES, PASSES = 1, 2, 3  # of a slot in an issue token
BEFORE, NOW, AFTER, LAST = range(4)  # order of tokens of one time


# -- tokens: the number and how many bytes it has ---------------------------------------------------------

Token = tuple[int, int]


def start(
    cu: int, simd: int, slot: int, *, me: int = 0, pipe: int = 0, count: int = 1, group: int = 0
) -> Token:
    place = cu << 6 | slot << 10 | simd << 14
    return 3 | place | pipe << 16 | me << 18 | count << 22 | group << 29, 4


def end(cu: int, simd: int, slot: int) -> Token:
    return 6 | cu << 6 | slot << 10 | simd << 14, 2


def issue(simd: int, slots: dict[int, int]) -> Token:
    return 13 | simd << 5 | sum(what << 8 + 2 * slot for slot, what in slots.items()), 4


def kind(simd: int, slot: int, what: int) -> Token:
    return 10 | slot << 5 | simd << 9 | what << 11, 2


def place(simd: int, slot: int, address: int) -> Token:
    return 11 | slot << 5 | simd << 9 | (address >> 2) << 16, 8


def misc(what: int) -> Token:
    return what << 13, 2


def stamp(clock: int) -> Token:
    return 1 | clock << 16, 8


def register(address: int, value: int, *, me: int = 0, pipe: int = 0) -> Token:
    return 2 | pipe << 5 | (me ^ 1) << 7 | 1 << 15 | address << 16 | value << 32, 8


def compute(address: int, value: int, *, me: int = 0, pipe: int = 0, privileged: bool = False) -> Token:
    return (15 if privileged else 5) | pipe << 5 | (me ^ 1) << 7 | address << 9 | value << 16, 6


def shader_data(cu: int, simd: int, slot: int, value: int) -> Token:
    return 12 | cu << 6 | slot << 10 | simd << 14 | value << 16, 6


def counters(cu: int, bank: int, values: Sequence[int], sh: int = 0) -> Token:
    counts = sum(value << 12 + 13 * at for at, value in enumerate(values))
    return 14 | sh << 5 | cu << 6 | bank << 10 | counts, 8


def header(cu: int, kind: int = 6, se: int = 0, simds: int = 15) -> bytes:
    return (kind << 13 | simds << 16 | cu << 20 | se << 26).to_bytes(8, "little")


# -- laying them down --------------------------------------------------------------------------------------


@dataclass
class Tape:
    """Tokens at their times; those of one time in the order BEFORE, NOW, AFTER, then as they came."""

    cu: int = 0
    tokens: list[tuple[int, int, int, Token]] = field(default_factory=list)
    issues: dict[tuple[int, int], dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def put(self, time: int, token: Token, order: int = NOW) -> None:
        """Put a token at a cycle, which must be one of the stream's."""
        assert time % CLOCK == 0, time
        self.tokens.append((time, order, len(self.tokens), token))

    def issue(self, time: int, simd: int, slot: int, what: int) -> None:
        """What a slot did; slots of a SIMD share a token where they can."""
        if slot in self.issues[time, simd]:
            self.put(time, issue(simd, {slot: what}))
        else:
            self.issues[time, simd][slot] = what

    def stream(self, **facts: int) -> bytes:
        """Return the bytes."""
        told = [(time, NOW, -1, issue(simd, slots)) for (time, simd), slots in self.issues.items()]
        return header(self.cu, **facts) + b"".join(
            _laid(sorted([*self.tokens, *told], key=lambda one: one[:3]))
        )


def _laid(tokens: Iterable[tuple[int, int, int, Token]]) -> Iterator[bytes]:
    now = 0
    for time, _, _, (number, size) in tokens:
        steps = (time - now) // CLOCK
        now = time
        is_misc = number & 15 == 0
        own = min(steps, 255 if is_misc else 1)
        steps -= own
        while steps:
            taken = min(steps, 255)
            yield (taken << 4).to_bytes(2, "little")
            steps -= taken
        yield (number | own << 4).to_bytes(size, "little")


# -- a decoded wave ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    """A wave as it can be had from a stream, and where that is not what was recorded."""

    rows: list[list[int]]  # time, category, stall, duration
    states: list[list[int]]  # state, cycles
    changed: dict[str, int]  # why → how many records


def played(
    tape: Tape,
    where: tuple[int, int],
    life: tuple[int, int],
    rows: Sequence[Row],
    states: Sequence[Row],
    *,
    scaled: frozenset[int] = frozenset(),
) -> Played:
    """Put a wave on a tape.

    Args:
        tape: of its shader engine.
        where: SIMD and slot.
        life: when its start is told, and when it has ended, cycles.
        rows: time, category, stall, duration of what it issued.
        states: state and cycles of what it did.
        scaled: rows that are MFMA with a scale, which walking beside the program made earlier.
    """
    (simd, slot), (begin, until) = where, life
    changed: dict[str, int] = defaultdict(int)
    segments = [list(one) for one in states]
    waits = _stall_starts(begin, segments)
    wanted = _expressed([list(row[:4]) for row in rows], simd, waits, scaled, changed)
    tape.put(begin, start(tape.cu, simd, slot), BEFORE)
    tape.put(until - CLOCK, end(tape.cu, simd, slot), LAST)
    for time in _stalls(waits, wanted):
        tape.issue(time, simd, slot, STALLS)
    told = 0
    for row in wanted:
        told = _play(tape, simd, slot, row, told)
    segments = _seen(segments, begin, until, wanted, changed)
    return Played(wanted, segments, dict(changed))


def _seen(
    segments: list[list[int]], begin: int, until: int, rows: list[list[int]], changed: dict[str, int]
) -> list[list[int]]:
    """What a stream says that a wave did: an end of the program was recorded as a wait for the wave's."""
    entries = {row[0] for row, after in pairwise(rows) if row[1] == MSG and after[1] == IMMED}
    now = begin
    for segment in segments:
        if now in entries and segment[0] == STALL:
            segment[0] = EXEC
            changed["entry of a barrier was a stall"] += 1
        now += segment[1]
    if not rows or rows[-1][1] != MSG:
        return segments
    issued = rows[-1][0] + rows[-1][2]
    segments = _cut(segments, issued - begin)
    if issued < until:
        return [*segments, [EXEC, until - issued]]
    rows.pop()
    changed["end of program behind the end"] += 1
    return segments


def _cut(states: Sequence[Row], cycles: int) -> list[list[int]]:
    """What a wave did in its first cycles, without segments of no length."""
    left: list[list[int]] = []
    for state, lasted in states:
        taken = min(lasted, cycles)
        cycles -= taken
        if taken and left and left[-1][0] == state != WAIT:
            left[-1][1] += taken
        elif taken:
            left.append([state, taken])
    return left


def _stall_starts(begin: int, states: Sequence[Row]) -> list[int]:
    times, now = [], begin
    for state, cycles in states:
        if state == STALL:
            times.append(now)
        now += cycles
    return times


def _late(simd: int, category: int) -> int:
    """How many steps of the clock the kind of an instruction comes after its last."""
    return ((FIRST_PHASE + simd) % 4 + STEPS_LATE.get(category, 0)) // 4


def _expressed(
    rows: list[list[int]], simd: int, waits: list[int], scaled: frozenset[int], changed: dict[str, int]
) -> list[list[int]]:
    """Records as a stream can tell them, each change with its reason."""
    known = set(waits)
    for at in scaled:
        if rows[at][2] and rows[at][0] not in known and rows[at][0] + CLOCK in known:
            rows[at][0] += CLOCK
            rows[at][3] -= CLOCK
            changed["scaled MFMA moved forward"] += 1
    told = rows[:1]
    for row, after in pairwise(rows):
        end = row[0] + row[3]
        if end > after[0]:
            row[3] = max(after[0] - row[0], row[2] + CLOCK)
            changed["runs into the next"] += 1
        elif after[1] == row[1] == IMMED and end < after[0]:
            told.append([end, MSG, 0, after[0] - end])
            changed["entry of a barrier"] += 1
        elif IMMED not in (row[1], after[1]):
            _in_order(row, after, simd, waits, changed)
        told.append(after)
    if told and told[-1][1] == MSG and told[-1][3] - told[-1][2] != CLOCK:
        told[-1][3] = told[-1][2] + CLOCK
        changed["end of program"] += 1
    return told


def _in_order(row: list[int], after: list[int], simd: int, waits: list[int], changed: dict[str, int]) -> None:
    """Kinds are told in the order of issue: a kind that would come behind the next one comes earlier."""
    busy, next_busy = row[3] - row[2], after[3] - after[2]
    last = row[0] + row[3] - CLOCK + CLOCK * _late(simd, row[1])
    if (
        busy == CLOCK
        or last <= after[0] + after[3] - CLOCK + CLOCK * _late(simd, after[1])
        or next_busy != CLOCK
    ):
        return
    changed["told in another phase"] += 1
    row[3] -= CLOCK
    stalled = [time for time in waits if row[0] + row[2] <= time < after[0] + after[2]]
    if after[2] and stalled and stalled[-1] < after[0]:
        begin = max(stalled[-1], row[0] + row[3])
        after[2:] = [after[2] + after[0] - begin, after[3] + after[0] - begin]
        after[0] = begin


def _stalls(waits: list[int], rows: Sequence[Row]) -> Iterator[int]:
    """When a wave said that it stalls: where such a segment begins, and again where a record's stall does."""
    yield from waits
    at, floor = 0, 0
    for time, category, stall, duration in rows:
        found = time + stall
        while category != IMMED and at < len(waits) and waits[at] < time + stall:
            found = max(waits[at], floor)
            at += 1
        if category != IMMED and stall and found != time:
            yield time
        floor = time + duration


def _play(tape: Tape, simd: int, slot: int, row: Row, told: int) -> int:
    """Put a record on a tape; return when its kind is told, not before that of the one before."""
    time, category, stall, duration = row
    if category == IMMED:
        tape.issue(time + duration - CLOCK, simd, slot, PASSES)
        return told
    issued, busy = time + stall, duration - stall
    tape.issue(issued, simd, slot, ISSUES)
    exact = issued + busy - CLOCK + CLOCK * _late(simd, category)
    told = exact if busy > CLOCK else max(issued, told)  # one that took no longer may be told as late
    tape.put(told, kind(simd, slot, KIND_OF[category]), BEFORE if told > issued else AFTER)
    return told
