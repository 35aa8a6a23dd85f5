"""Combine the shader engines of a raw capture into one trace, with waves that index its code table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.base.problems import Affects, Problems
from rcv_py.base.record import Value
from rcv_py.base.runs import distinct, starts_run
from rcv_py.base.text import Message, plural
from rcv_py.formats.input.columns import LIMIT, clipped, fit, frozen
from rcv_py.formats.raw.engine import Engine
from rcv_py.formats.raw.files import spans
from rcv_py.formats.raw.listing import CodeRows, kernel_names, listing
from rcv_py.formats.raw.objects import ONE_RUN, Claim, Objects, Places
from rcv_py.formats.uiout.clock import clock_of, clock_samples, lives_of
from rcv_py.formats.uiout.code import Code
from rcv_py.formats.uiout.occupancy import hardware_events
from rcv_py.formats.uiout.run_files import exact_target
from rcv_py.formats.uiout.side_files import counter_samples, other_simd, shader_data
from rcv_py.model.architecture import Architecture, architecture_of
from rcv_py.model.code import SourceFile
from rcv_py.model.device import Clock, Dispatch, HardwareEvents, OtherSimd, WaveEvents
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import FACTS, TIMES, WaveColumns, WaveIndex

TARGET_FROM_CODE = "the code object"
TARGET_FROM_STREAM = "the layout of the trace"
GFX1250 = "gfx1250"
GFX1250_VERSION = 5  # of the layout, which no other GPU of generation 12 has
_ENTRIES = ("started", "entry", "launched")  # places of an engine where kernels begin
_AS_RECORDED = ("me", "pipe", "vgprs", "sgprs", "user_sgprs", "workgroup_size", "flags")  # of dispatches
Numbers = Mapping[tuple[int, int], int]  # of kernels, by code object and address
_UNIT, _ARRAY = 0x7F, 7  # bits of a compute unit, and of the shader array


class Assembled(Value):
    """A trace without a reader, and the columns of its waves."""

    trace: Trace
    columns: Iterable[WaveColumns]  # with rows of the code table; once
    is_sure: bool = True  # decoding it again gives the same


def assembled(path: Path, engines: Sequence[Engine], objects: Objects, problems: Problems) -> Assembled:
    """Combine the shader engines of a capture with its code objects."""
    engines = _agreed(sorted(engines, key=lambda engine: engine.se))
    gfxip = engines[0].stream.gfxip
    for engine in engines:
        problems += engine.problems
        _report_doubts(engine.name, engine.doubts, problems)
    code, rows = listing(engines, objects, gfxip, problems)
    clock = _clock(engines, problems)
    engines = [replace(engine, offset=clock.offsets.get(engine.se, 0)) for engine in engines]
    places = (getattr(engine, name) for name in _ENTRIES for engine in engines)
    numbers, called = kernel_names([key for one in places for key in _Once(one).keys], objects.names)
    exact, target_source = _target(path, engines, gfxip, objects.target, set(code.mnemonics))
    if not architecture_of(gfxip, exact).is_checked:
        text = "Streams of {0} are read as documents say; no capture of a real GPU has checked it."
        hint = "Look at a kernel whose cost you know before you rely on numbers."
        problems.inform(path.name, Message(text, exact), hint)
    waves = _index(engines, numbers)
    trace = Trace(
        path=path,
        name=path.name,
        gfxip=gfxip,
        target=exact,
        target_from=target_source,
        disassembler=", ".join(sorted(frozenset().union(*(engine.disassemblers for engine in engines)))),
        has_thread_trace=True,
        has_pc_samples=code.table.samples is not None,
        waves=waves,
        code=code.table,
        sources=tuple(SourceFile(one, None) for one in code.paths),
        occupancy=_occupancy(engines, numbers, called, waves),
        clock=clock,
        problems=tuple(problems),
        events=_events(engines),
        dispatches=_dispatches(engines, numbers, called, architecture_of(gfxip, exact)),
        counters=tuple(
            counter_samples(one.se, one.stream.counters, one.offset)
            for one in engines
            if len(one.stream.counters)
        ),
        other_simd=tuple(_other_simd(engines)),
        shader_data=tuple(
            shader_data(one.se, one.stream.shader_data, one.offset)
            for one in engines
            if len(one.stream.shader_data)
        ),
        markers=code.markers,
        marker_layout=code.layout,
        marker_payloads=code.payloads,
    )
    return Assembled(trace, _columns(engines, code, rows))


def of_one_gpu(engines: Sequence[Engine], problems: Problems) -> list[Engine]:
    """The engines of the generation that most have; a Problem reports each of the others."""
    number = Counter(engine.stream.gfxip for engine in engines)
    gfxip = max(number, key=lambda one: (number[one], one))
    text = "{0} is a stream of gfx{1}, and the others are of gfx{2}: it is left out."
    for one in engines:
        if one.stream.gfxip != gfxip:
            said = Message(text, one.name, one.stream.gfxip, gfxip)
            problems.fail(one.name, said, ONE_RUN, Affects.WAVES)
    return [engine for engine in engines if engine.stream.gfxip == gfxip]


def _agreed(engines: Sequence[Engine]) -> list[Engine]:
    """The engines; one without tokens from an address takes the kernel that another's tokens decided."""
    decided: dict[int, Claim] = {}
    for claim in (claim for engine in engines for claim in engine.claims if claim.entry not in engine.doubts):
        if claim.explained > (decided[claim.entry].explained if claim.entry in decided else 0):
            decided[claim.entry] = claim
    return [_with_kernels(engine, decided) for engine in engines]


def _with_kernels(engine: Engine, decided: Mapping[int, Claim]) -> Engine:
    open_claims = [one for one in engine.claims if not one.explained and one.entry in decided]
    if not open_claims:
        return engine
    places: dict[str, Any] = {name: getattr(engine, name) for name in _ENTRIES}
    for claim in open_claims:
        taken = decided[claim.entry]
        for name, one in places.items():
            is_here = (one.codeobj == claim.codeobj) & (one.address == np.uint64(claim.address))
            places[name] = Places(
                np.where(is_here, taken.codeobj, one.codeobj),
                np.where(is_here, np.uint64(taken.address), one.address),
            )
    solved = {claim.entry for claim in open_claims}
    return replace(engine, **places, doubts=tuple(one for one in engine.doubts if one not in solved))


def _report_doubts(name: str, doubts: Sequence[int], problems: Problems) -> None:
    if not doubts:
        return
    others = plural(len(doubts) - 1, "other address", "other addresses")
    places = f"{doubts[0]:#x}" + (Message(" and {0}", others) if len(doubts) > 1 else "")
    text = (
        "Several code objects or kernels claim {0}, where waves of {1} begin: instructions may belong to "
        "another program."
    )
    problems.warn(name, Message(text, places, name), ONE_RUN, Affects.CODE)


def _target(
    path: Path, engines: Sequence[Engine], gfxip: int, target: str, mnemonics: AbstractSet[str]
) -> tuple[str, str]:
    """Return the GPU, such as `gfx950`, and its source: code objects, the layout of streams, or less."""
    if target.removeprefix("gfx")[:-2] == str(gfxip):
        return target, TARGET_FROM_CODE
    if gfxip == 12 and any(engine.stream.version == GFX1250_VERSION for engine in engines):
        return GFX1250, TARGET_FROM_STREAM
    return exact_target(path, gfxip, mnemonics)


def _columns(engines: Sequence[Engine], code: Code, rows: CodeRows) -> Iterator[WaveColumns]:
    before = 0
    matrix = np.append(code.table.kind == TokenKind.MATRIX, False)
    has_matrix = bool(matrix.any())
    dtype = np.int16 if len(code.table) < 1 << 15 else np.int32
    for engine in engines:
        row = fit(np.append(rows.find(engine.places), -1)[engine.line], dtype)
        for columns in engine.columns:
            facts = columns.facts.copy()
            facts["row"] += before
            for name in TIMES:
                facts[name] += engine.offset
            line = row[columns.line]
            kind = columns.kind
            if has_matrix:
                kind = kind.copy()
                kind[(kind == TokenKind.VALU) & matrix[line]] = TokenKind.MATRIX
            yield columns._replace(
                facts=frozen(facts),
                kind=frozen(kind),
                line=frozen(line),
                wait_line=fit(row[columns.wait_line], np.int32),
                depends_on=fit(row[columns.depends_on], np.int32),
            )
        before += len(engine.facts)


def _keys(places: Places) -> list[tuple[int, int]]:
    return list(zip(places.codeobj.tolist(), places.address.tolist(), strict=True))


class _Once:
    """The distinct places in order of first occurrence, and the index of each row's place."""

    def __init__(self, places: Places) -> None:
        self._rows = len(places)
        self._heads = np.flatnonzero(starts_run(places.codeobj) | starts_run(places.address))
        first, which = distinct(places.codeobj[self._heads], places.address[self._heads])
        came = np.argsort(first)
        rows = self._heads[first[came]]
        self.keys = _keys(Places(places.codeobj[rows], places.address[rows]))
        self._which = np.empty(len(came), dtype=np.int64)
        self._which[came] = np.arange(len(came))
        self._which = self._which[which]

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return for each row the value of its place; `values` has one for each of `keys`."""
        return np.repeat(values[self._which], np.diff(self._heads, append=self._rows))


def _kernels(places: Places, numbers: Numbers) -> np.ndarray:
    once = _Once(places)
    return once.spread(np.array([numbers.get(key, 0) for key in once.keys], dtype=np.int32))


def _joined(columns: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
    return fit(np.concatenate([np.zeros(0, dtype=np.int64), *columns]), dtype)


def _index(engines: Sequence[Engine], numbers: Numbers) -> WaveIndex:
    """The waves by engine, SIMD, slot and number, in the order of the columns."""
    table = np.concatenate([np.zeros(0, dtype=FACTS), *(engine.facts for engine in engines)])
    moved = _joined([np.full(len(engine.facts), engine.offset) for engine in engines], np.int64)
    return WaveIndex(
        **{name: fit(table[name], np.int16) for name in ("se", "simd", "slot", "cu")},
        wid=fit(table["wid"], np.int32),
        begin=frozen(table["begin"] + moved),
        end=frozen(table["end"] + moved),
        sa=_joined([engine.arrays for engine in engines], np.int16),
        kernel=_joined([_kernels(engine.entry, numbers) for engine in engines], np.int32),
        size=_joined([engine.size for engine in engines], np.int64),
        file=tuple(engine.name for engine in engines for _ in range(len(engine.facts))),
    )


def _occupancy(
    engines: Sequence[Engine], numbers: Numbers, names: Mapping[int, str], waves: WaveIndex
) -> WaveEvents:
    records = [engine.stream.occupancy for engine in engines]
    time = _joined([engine.stream.occupancy.time + engine.offset for engine in engines], np.int64)
    is_start = np.concatenate([np.zeros(0, dtype=bool), *(one.is_start for one in records)])
    order = np.lexsort((is_start, time))

    def column(name: str, dtype: Any) -> Any:
        return clipped(_joined([getattr(one, name) for one in records], np.int64)[order], dtype)

    unit = np.maximum(_joined([one.cu for one in records], np.int64)[order], 0)
    kernel = _joined([_kernels(engine.started, numbers) for engine in engines], np.int32)
    se = _joined([np.full(len(one.stream.occupancy.time), one.se) for one in engines], np.int64)
    return WaveEvents(
        time=frozen(time[order]),
        se=fit(se[order], np.int16),
        sa=fit(unit >> _ARRAY & 1, np.int16),
        cu=fit(unit & _UNIT, np.int16),
        is_start=frozen(is_start[order]),
        kernel=frozen(kernel[order]),
        **{name: column(name, np.int16) for name in ("simd", "slot", "me", "pipe")},
        **{name: column(name, np.int64) for name in ("workgroup", "cluster")},
        names=names,
        **waves.extent,
    )


def _events(engines: Sequence[Engine]) -> HardwareEvents | None:
    parts = [
        np.column_stack([table[:, 0] + engine.offset, np.full(len(table), engine.se), table[:, 1:]])
        for engine in engines
        if len(table := engine.stream.events)
    ]
    if not parts:
        return None
    table = np.concatenate(parts)
    return hardware_events(table[np.lexsort(table.T[::-1])], np.zeros(len(table), dtype=np.uint64))


def _dispatches(
    engines: Sequence[Engine], numbers: Numbers, names: Mapping[int, str], device: Architecture
) -> tuple[Dispatch, ...]:
    # A stream of gfx9 counts LDS in allocation granules, and does not say of which GPU.
    granules = device.lds_granule / 512 if device.gfxip == 9 else 1
    found = []
    for engine in engines:
        for record, key in zip(engine.stream.dispatches, _keys(engine.launched), strict=True):
            kernel = numbers.get(key, 0)
            found.append(
                Dispatch(
                    time=record.time + engine.offset,
                    se=engine.se,
                    kernel=kernel,
                    name=names[kernel],
                    lds_size=int(record.lds_size * granules),
                    address=key[1],
                    code_object=max(key[0], 0),
                    **{name: getattr(record, name) for name in _AS_RECORDED},
                )
            )
    return tuple(sorted(found, key=lambda dispatch: dispatch.time))


def _other_simd(engines: Sequence[Engine]) -> Iterator[OtherSimd]:
    for engine in engines:
        stream = engine.stream
        if len(stream.other_simd):
            cu = stream.cu & _UNIT if stream.cu >= 0 else -1
            yield other_simd(engine.se, cu, stream.other_simd_number, stream.other_simd, engine.offset)


def _clock(engines: Sequence[Engine], problems: Problems) -> Clock:
    """The clock with the offset of each engine; a Problem reports engines that cannot be aligned."""
    samples = {}
    for engine in engines:
        pairs = engine.stream.realtime
        pairs = pairs[(np.abs(pairs) < LIMIT).all(axis=1)]
        if len(pairs):
            samples[engine.se] = clock_samples(pairs)
    events = [(one.se, one.stream.occupancy.time) for one in engines]
    lives = lives_of(events + [(one.se, one.facts[name]) for one in engines for name in ("begin", "end")])
    rates = ((one.stream.frequency, one.name) for one in engines if one.stream.frequency)
    stated, name = next(rates, (None, "The recording"))
    clock = clock_of(samples, lives, stated, name, problems)
    busy, lost = sorted(lives), sorted(lives.keys() - samples.keys())
    if len(busy) > 1 and len(clock.apart) == len(busy):
        text: str = "The clocks of the shader engines lie years apart: they are not aligned."
        if not samples or lost:
            few = (
                "Fewer than two shader engines wrote the constant clock: the clocks of {0} engines are not "
                "aligned."
            )
            text = Message(few, len(busy))
        problems.warn("clock", text, "Compare times within one shader engine only.")
    elif len(busy) > 1 and lost:
        text = Message(
            "The streams of SE{0} hold no constant clock: their times are not aligned.", spans(lost)
        )
        problems.warn("clock", text, "Do not compare their times with times of other shader engines.")
    return clock
