"""Match each token of a stream to its instruction: walk tokens and programs in parallel.

A stream says where a wave began and where it went after indirect jumps; between those, the program is
followed from line to line.  Times are cycles of the stream's clock.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from rcv_py.base.machine.compiled import kernel, part
from rcv_py.formats.isa.program import Category, Program, mnemonic
from rcv_py.formats.raw.objects import Places
from rcv_py.formats.sqtt.records import WaveRecords
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import TokenKind

MAX_MISSED = 1000  # consecutive lines without a token before the walk abandons a wave
MAX_AHEAD = 4096  # lines of look-ahead after an s_barrier_wait
CYCLE = 4  # cycles per tick of gfx9's token clock

# Traits of a line that affect the match in addition to its category.
IS_WAITCNT = 1
IS_LOAD = 2  # from memory that is not scratch
IS_BARRIER = 4
IS_BARRIER_WAIT = 8  # of gfx12, which may leave no token
IS_SCALED = 16  # an MFMA with scales; the hardware issues their load first
IS_MOVE_64 = 32
IS_CLOCK = 64  # s_memtime, which is encoded as memory and listed by AMD with the scalar ALU
SWAPS = 128  # of all lines: the stream may report instructions of two units in either order
IS_PAUSE = 256  # leaves a token of the kind IMMED and never a message
IS_END = 512  # no instruction of the wave follows
_MATTERS = IS_WAITCNT | IS_LOAD | IS_CLOCK  # in every stream
_MATTERS_IN = {9: IS_BARRIER | IS_SCALED | SWAPS, 12: IS_MOVE_64}  # by major version of the graphics IP
_LOOKS_AHEAD = IS_BARRIER_WAIT | IS_PAUSE | IS_END  # where s_barrier_wait may leave no token

VALU, IMMED, SALU, VMEM = map(int, (Category.VALU, Category.IMMED, Category.SALU, Category.VMEM))
JUMP, NEXT, TRAP, MSG = map(int, (TokenKind.JUMP, TokenKind.NEXT, TokenKind.TRAP, TokenKind.MSG))
BRANCH, FLAT, SMEM = int(Category.BRANCH), int(TokenKind.FLAT), int(TokenKind.SMEM)
UNFINISHED, LAST_KIND = int(TokenKind.NONE), int(TokenKind.BVH)  # other kinds are not instructions


class StitchedPrograms(ColumnTable):
    """Instructions of several programs, concatenated, in the form that the walk needs."""

    number: np.ndarray  # int32 [n], number of the code object
    address: np.ndarray  # uint64 [n], byte offset inside it
    size: np.ndarray  # uint8 [n], bytes
    text: tuple[str, ...]
    category: np.ndarray  # uint8 [n], Category
    after: np.ndarray  # int32 [n], the next row that leaves a token, -1 if code ends before
    target: np.ndarray  # int32 [n], row that leaves a token where a branch goes, -1 if none
    traits: np.ndarray  # uint16 [n], IS_…
    shown: np.ndarray  # int32 [n], the row itself, or the next that leaves a token

    def rows(self, number: np.ndarray, address: np.ndarray) -> np.ndarray:
        """Return the row at each address of each code object, int32, -1 where no instruction begins."""
        asked = Places(number, address.astype(np.uint64))
        return Places(self.number, self.address).rows(asked).astype(np.int32)


def listing(programs: Sequence[tuple[int, Program]]) -> StitchedPrograms:
    """Return the lines of programs, each with the number of its code object; no two begin at one address."""
    ordered = sorted(programs, key=lambda one: (one[0], int(one[1].address[0]) if len(one[1]) else 0))
    number = np.repeat([one for one, _ in ordered], [len(one) for _, one in ordered]).astype(np.int32)
    parts = [one for _, one in ordered]

    def joined(name: str, dtype: str) -> np.ndarray:
        return np.concatenate([getattr(one, name) for one in parts] or [np.zeros(0)]).astype(dtype)

    address, size = joined("address", "u8"), joined("size", "u1")
    category, target = joined("category", "u1"), joined("target", "i8")
    text = tuple(one for part in parts for one in part.text)
    count = len(text)
    follows = np.full(count, -1, dtype=np.int32)
    if count > 1:
        goes_on = (number[1:] == number[:-1]) & (address[1:] == address[:-1] + size[:-1])
        follows[:-1][goes_on] = np.flatnonzero(goes_on) + 1
    leaves = (category != Category.SKIP) & (category != Category.UNKNOWN)
    bare = StitchedPrograms(
        number=number,
        address=address,
        size=size,
        text=text,
        category=category,
        after=follows,
        target=follows,
        traits=_traits(text),
        shown=_next_shown(follows, leaves),
    )
    goes = np.full(count, -1, dtype=np.int32)
    branches = np.flatnonzero(target >= 0)
    goes[branches] = bare.rows(number[branches], target[branches].astype(np.uint64))
    shown = np.append(bare.shown, np.int32(-1))  # so that -1 stays -1
    return replace(bare, after=shown[follows], target=shown[goes])


def _next_shown(follows: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """For each row the row itself if it leaves a token, else the next row that does, -1 if none."""
    count = len(follows)
    own = np.where(leaves, np.arange(count), count)
    nearest = np.minimum.accumulate(own[::-1])[::-1]
    ends = np.minimum.accumulate(np.where(follows < 0, np.arange(count), count)[::-1])[::-1]  # of its stretch
    return np.where((nearest < count) & (nearest <= ends), nearest, -1).astype(np.int32)


TRAIT_OF = (  # prefix of the mnemonic → trait
    ("s_waitcnt", IS_WAITCNT),
    ("s_barrier", IS_BARRIER),
    ("s_barrier_wait", IS_BARRIER_WAIT),
    ("v_mfma_scale_", IS_SCALED),
    ("v_mov_b64", IS_MOVE_64),
    ("s_memtime", IS_CLOCK),
    *((word, IS_PAUSE) for word in ("s_nop", "s_sleep", "s_monitor_sleep", "s_wait")),
    ("s_endpgm", IS_END),
)


def _traits(texts: tuple[str, ...]) -> np.ndarray:
    words = [mnemonic(text)[:64] for text in texts]
    known = dict.fromkeys(words, 0)
    for word in known:
        known[word] = sum(trait for prefix, trait in TRAIT_OF if word.startswith(prefix))
        known[word] |= IS_LOAD * ("_load_" in word and "scratch_" not in word)
    return np.array([known[word] for word in words], dtype=np.uint16)


def programs_at(
    program_of: Callable[[int, int], Program | None], number: np.ndarray, address: np.ndarray
) -> list[tuple[int, Program]]:
    """Return the programs that hold addresses (uint64) of code objects, and their branch targets.

    `program_of` returns the function of a code object that holds an address.
    """
    asked = list(zip(number.tolist(), address.tolist(), strict=True))
    found: dict[tuple[int, int], tuple[int, Program]] = {}
    seen = set(asked)
    while asked:
        one, place = asked.pop()
        program = program_of(one, place)
        if program is None or not len(program) or (one, int(program.address[0])) in found:
            continue
        first, last = int(program.address[0]), int(program.address[-1])
        found[one, first] = (one, program)
        goes = program.target[program.target >= 0]
        outside = (goes < first) | (goes > last)
        further = {(one, target) for target in np.unique(goes[outside]).tolist()} - seen
        seen |= further
        asked.extend(further)
    return list(found.values())


class StreamStarts(NamedTuple):
    """Rows of the listing that the stream names, -1 for places whose line is unknown.

    A wave's tokens after such a place have no instruction until the next break.
    """

    entry: np.ndarray  # int32 [waves], where waves begin
    breaks: np.ndarray  # int32 [breaks], where programs go on


def explained(token_first: np.ndarray, row: np.ndarray, program: StitchedPrograms) -> int:
    """Return how many tokens stand on the line after the line of the token before, or where it branches."""
    before = np.append(np.int32(-1), row)[:-1]
    before[token_first[:-1][np.diff(token_first) > 0]] = -1
    follows = (row == program.after[before]) | (row == program.target[before])
    return int(np.count_nonzero((row >= 0) & (before >= 0) & follows))


def stitch(
    waves: WaveRecords, program: StitchedPrograms, starts: StreamStarts, gfxip: int, excludes: bool = False
) -> tuple[WaveRecords, np.ndarray]:
    """Return the waves, corrected by the program, and the row of the program of each token.

    Rows are int32 [tokens], -1 where the program does not fit.  `excludes`: the stream says that
    s_barrier_wait may leave no token.
    """
    tokens = np.stack((waves.time, waves.kind, waves.stall, waves.duration), dtype=np.int64)
    matter = _MATTERS | _MATTERS_IN.get(gfxip, 0) | (_LOOKS_AHEAD if excludes else 0)
    traits = (program.traits | SWAPS) & matter
    lines = np.stack((program.category, program.after, program.target, traits, program.shown), dtype=np.int32)
    rows = np.full(tokens.shape[1], -1, dtype=np.int32)
    named_first = waves.break_first + np.arange(len(waves) + 1)  # an entry is stored like a break
    named = np.zeros((2, int(named_first[-1])), dtype=np.int64)
    is_entry = np.zeros(named.shape[1], dtype=bool)
    is_entry[named_first[:-1]] = True
    owner = np.repeat(waves.token_first[:-1], np.diff(waves.break_first))
    named[:, is_entry] = waves.token_first[:-1], starts.entry
    named[:, ~is_entry] = owner + waves.break_token + 1, starts.breaks
    first, of_named = waves.token_first, (named_first[:-1], named_first[1:])
    of_wave = np.stack((first[:-1], first[1:], *of_named, waves.begin, waves.end), axis=1)
    state = np.zeros(len(STATE), dtype=np.int64)
    _walk(of_wave, named, tokens, lines, rows, state)
    time, kind, stall, duration = tokens
    return replace(waves, time=time, kind=kind.astype(np.uint8), stall=stall, duration=duration), rows


# Rows of the arrays of tokens and of lines that the walk reads.
TIME, KIND, STALL, DURATION = range(4)
CATEGORY, AFTER, TARGET, TRAITS, SHOWN = range(5)
STATE = TOKEN, STOP, NAMED_LINE, LAST_NAMED, BEGIN, END, FIRST, LINE, MISSED, OWED, LEFT = range(11)
NOTHING, UNKNOWN = -2, -1  # of a token: the stream names no place, or a place without a known line
ENDS, MISSES, FITS = range(3)


@part
def _is_plain(kind: int, category: int) -> bool:
    """Whether a line leaves a token of the kind when the program continues with the next line."""
    if category == BRANCH:
        return kind == NEXT
    if kind == MSG:
        return category == IMMED
    return kind == category or (kind == FLAT and category == VMEM)


@part
def _is_any(kind: int, category: int) -> bool:
    """Whether a line may leave a token of the kind."""
    if category == BRANCH:
        return kind == NEXT or kind == JUMP  # noqa: PLR1714 - compiled
    if kind == IMMED:
        return category != SALU and 0 < category <= IMMED
    return _is_plain(kind, category)


@part
def _goes_on(kind: int, line: int, lines: np.ndarray) -> int:
    """The line after a line that left a token of the kind, -1 if there is none."""
    if lines[CATEGORY, line] == BRANCH and kind == JUMP:
        return int(lines[TARGET, line])
    return int(lines[AFTER, line])


@part
def _fits_without(
    token: int, stop: int, line: int, leaves: bool, tokens: np.ndarray, lines: np.ndarray
) -> bool:
    """Whether tokens from this one on fit the lines after an s_barrier_wait, so that it left no token.

    `leaves`: whether the following s_barrier_wait may leave tokens.  Tokens fit by chance only within one
    unit: tokens of two units decide.  A program that ends before its tokens does not fit them.
    """
    unit = 0
    at = int(lines[AFTER, line])
    for _ in range(MAX_AHEAD):
        if token >= stop or at < 0:
            return token >= stop
        kind, category, trait = int(tokens[KIND, token]), int(lines[CATEGORY, at]), int(lines[TRAITS, at])
        if not trait & IS_BARRIER_WAIT or (leaves and kind == IMMED):
            if not _is_any(kind, category) or (kind == MSG and trait & IS_PAUSE):
                return False
            token += 1
            if kind != IMMED and category != VALU:
                if unit > 0 and unit != category:
                    return True
                unit = category
        at = -1 if trait & IS_END else _goes_on(kind, at, lines)
    return True


@part
def _place(state: np.ndarray, line: int, rows: np.ndarray) -> None:
    """Assign the token to the line and advance to the next token."""
    rows[int(state[TOKEN])] = line
    state[TOKEN] += 1
    state[MISSED] = 0


@part
def _is_next(kind: int, state: np.ndarray, tokens: np.ndarray) -> bool:
    following = int(state[TOKEN]) + 1
    return following < state[STOP] and tokens[KIND, following] == kind


@part
def _scale(state: np.ndarray, tokens: np.ndarray) -> None:
    """Let an MFMA begin with the load of its scales, 4 cycles earlier, where there is room."""
    token = int(state[TOKEN])
    before, later = int(state[BEGIN]), int(state[END])
    if token > state[FIRST]:
        before = int(tokens[TIME, token - 1]) + int(tokens[DURATION, token - 1])
    if token + 1 < state[STOP]:
        later = int(tokens[TIME, token + 1])
    time, length = int(tokens[TIME, token]), int(tokens[DURATION, token]) + CYCLE
    if time > before:
        time -= CYCLE
        if time + length < later:
            length += CYCLE
    elif time + length > later:
        length -= CYCLE
    tokens[TIME, token] = time
    tokens[DURATION, token] = length


@part
def _correct(state: np.ndarray, line: int, tokens: np.ndarray, lines: np.ndarray, rows: np.ndarray) -> None:
    """Correct times of the token that depend on its instruction."""
    token, trait = int(state[TOKEN]), int(lines[TRAITS, line])
    if trait & IS_MOVE_64:
        tokens[DURATION, token] = max(int(tokens[DURATION, token]), int(tokens[STALL, token]) + 2)
    if trait & IS_SCALED:
        _scale(state, tokens)
    if trait & IS_BARRIER and tokens[KIND, token] == MSG and _is_next(IMMED, state, tokens):
        _place(state, line, rows)  # one token when it entered, one when it left


@part
def _swapped(state: np.ndarray, line: int, tokens: np.ndarray, lines: np.ndarray) -> bool:
    """Exchange the token with the next if both then fit."""
    token, later = int(state[TOKEN]), int(lines[AFTER, line])
    if later < 0 or not _is_next(int(lines[CATEGORY, line]), state, tokens):
        return False
    if tokens[KIND, token] != lines[CATEGORY, later]:
        return False
    for row in range(4):
        kept = int(tokens[row, token])
        tokens[row, token] = tokens[row, token + 1]
        tokens[row, token + 1] = kept
    state[LINE] = line
    return True


@part
def _otherwise(state: np.ndarray, line: int, tokens: np.ndarray, lines: np.ndarray) -> int:
    """Handle a token that does not plainly fit the line; return FITS, MISSES (no token for it) or ENDS."""
    kind, category = int(tokens[KIND, int(state[TOKEN])]), int(lines[CATEGORY, line])
    trait = int(lines[TRAITS, line])
    if category == BRANCH:
        state[LINE] = int(lines[TARGET, line])
        return FITS if kind == JUMP else ENDS
    if trait & IS_CLOCK and kind == SMEM:
        return FITS
    if trait & SWAPS and _swapped(state, line, tokens, lines):
        return MISSES
    if not trait & SWAPS and kind == IMMED and _is_any(kind, category):
        state[OWED] += 1
        return FITS
    if trait & IS_WAITCNT and state[OWED] > 0:
        state[OWED] -= 1
        return FITS
    return ENDS if trait & (IS_WAITCNT | IS_LOAD) else MISSES


@part
def _step(state: np.ndarray, tokens: np.ndarray, lines: np.ndarray, rows: np.ndarray) -> bool:
    """Compare the token with the next line; return False if the walk of the wave must end."""
    token, line = int(state[TOKEN]), int(state[LINE])
    kind = int(tokens[KIND, token])
    if line < 0 or kind == UNFINISHED or kind > LAST_KIND:
        return False
    state[LINE] = int(lines[AFTER, line])
    outcome = MISSES
    if lines[TRAITS, line] & IS_BARRIER_WAIT:
        # It may leave no token, as those after it, or unlike some of them.
        if kind == IMMED and not (
            _fits_without(token, int(state[STOP]), line, False, tokens, lines)
            or _fits_without(token, int(state[STOP]), line, True, tokens, lines)
        ):
            outcome = FITS
    elif _is_plain(kind, int(lines[CATEGORY, line])):
        _correct(state, line, tokens, lines, rows)
        outcome = FITS
    else:
        outcome = _otherwise(state, line, tokens, lines)
    if outcome == FITS:
        _place(state, line, rows)
    else:
        state[MISSED] += 1
        state[LEFT] -= 1
    return outcome != ENDS


@part
def _named_line(state: np.ndarray, named: np.ndarray) -> int:
    """The line that the stream names for this token, or NOTHING or UNKNOWN."""
    line = NOTHING
    while state[NAMED_LINE] < state[LAST_NAMED] and named[0, int(state[NAMED_LINE])] <= state[TOKEN]:
        if named[0, int(state[NAMED_LINE])] == state[TOKEN]:
            line = int(named[1, int(state[NAMED_LINE])])
        state[NAMED_LINE] += 1
    return line


@part
def _begin_at(state: np.ndarray, line: int, tokens: np.ndarray, lines: np.ndarray, rows: np.ndarray) -> None:
    """Assign the token to the line that the stream names, or to the next line that leaves a token."""
    if lines[SHOWN, line] >= 0:
        line = int(lines[SHOWN, line])
    if lines[TRAITS, line] & IS_BARRIER_WAIT:
        state[LINE] = line  # the next step decides whether it left this token
        return
    kind = int(tokens[KIND, int(state[TOKEN])])
    if lines[TRAITS, line] & IS_BARRIER and _is_next(IMMED, state, tokens):
        _place(state, line, rows)
    _place(state, line, rows)
    state[LINE] = _goes_on(kind, line, lines)


@kernel
def _walk(
    waves: np.ndarray,
    named: np.ndarray,
    tokens: np.ndarray,
    lines: np.ndarray,
    rows: np.ndarray,
    state: np.ndarray,
) -> None:
    """Walk every wave: fill `rows`, and correct the tokens in place."""
    for wave in range(len(waves)):
        for at in range(6):
            state[at] = waves[wave, at]
        state[FIRST], state[LINE] = state[TOKEN], -1
        state[MISSED], state[OWED] = 0, 0
        state[LEFT] = MAX_MISSED + 16 * (state[STOP] - state[TOKEN])  # lines without a token, in all
        while state[TOKEN] < state[STOP] and state[MISSED] < MAX_MISSED and state[LEFT] > 0:
            line = _named_line(state, named)
            if line == UNKNOWN:  # until the next break
                has_next = state[NAMED_LINE] < state[LAST_NAMED]
                following = int(named[0, int(state[NAMED_LINE])]) if has_next else int(state[STOP])
                state[TOKEN], state[LINE] = min(following, int(state[STOP])), -1
            elif tokens[KIND, int(state[TOKEN])] == TRAP:
                _place(state, -1, rows)
            elif line >= 0:
                _begin_at(state, line, tokens, lines, rows)
            elif not _step(state, tokens, lines, rows):
                break


def prepare() -> None:
    """Compile the walk, so that one process can do so while another decodes its stream."""
    waves, named, tokens = (np.zeros(shape, dtype=np.int64) for shape in ((0, 6), (2, 0), (4, 0)))
    lines, rows = np.zeros((5, 0), dtype=np.int32), np.zeros(0, dtype=np.int32)
    _walk(waves, named, tokens, lines, rows, np.zeros(len(STATE), dtype=np.int64))
