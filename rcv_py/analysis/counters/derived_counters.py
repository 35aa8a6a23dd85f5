"""Derived counters of a capture: definitions computed over its raw counters, and their curves."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.counters.counter_sets import BUILT_IN, built_in
from rcv_py.analysis.counters.counter_tensor import CounterGrid, Tensors, simd_names
from rcv_py.analysis.counters.counters import ALL_SIMDS, CounterFamily, Counters, raw_curve, silences
from rcv_py.analysis.counters.formula.evaluate import Definition, Definitions, Evaluator, joined, shape_text
from rcv_py.analysis.counters.formula.parser import FormulaError, FormulaKind
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, join_texts, plural
from rcv_py.model.architecture import Architecture, architecture_of
from rcv_py.model.device import Clock

_GFX9 = architecture_of(9)
MAX_CURVES = 10  # of one definition
_UNIT = re.compile(r"\[([^\]]{1,40})\]\s*(.*)")


class Derived(Value):
    """One definition and its value, or why it has none."""

    name: str
    file: str
    family: CounterFamily
    value: np.ndarray | None  # float64 [XCC, SE, CU, T]
    error: FormulaError | None
    uses: frozenset[str]  # raw counters
    unit: str = ""
    tip: str = ""


class DerivedSet(Value):
    """All definitions that are shown, in the order of their files, built-in definitions first."""

    rows: tuple[Derived, ...]
    mistakes: tuple[tuple[str, FormulaError], ...]  # (file, error) of the user's files: lines without a value
    left_out: int  # built-in definitions whose counters were not recorded
    tensors: dict[CounterFamily, Tensors]
    evaluators: dict[CounterFamily, Evaluator]

    def grid(self, family: CounterFamily) -> CounterGrid | None:
        """The intervals of a family."""
        return self.tensors[family].grid

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a formula may use, raw counters first, without aliases."""
        constants = ("SCLOCK", "RCLOCK", "INTERVAL", "SHADER_HZ", "FREQUENCY")
        sizes = ("NUM_XCC", "NUM_SE", "NUM_CU", "NUM_SAMPLES")
        raw = [name for tensors in self.tensors.values() for name in tensors.names]
        formulas = self.evaluators[CounterFamily.SQ].definitions.by_name
        return tuple(dict.fromkeys((*raw, *formulas, *constants, *sizes)))


def derived_counters(
    counters: Counters,
    clock: Clock,
    files: Iterable[Definitions] = (),
    architecture: Architecture = _GFX9,
    *,
    engines: Collection[int] | None = None,
    units: Collection[int] | None = None,
) -> DerivedSet:
    """Compute every definition of the built-in set and of `files`.

    A formula uses the grid of one family: the thread trace's counters if they suffice, else the performance
    monitors.  Raw counters cover the chosen engines and units.  Built-in formulas whose counters were not
    recorded are left out.
    """
    places = {"engines": engines, "units": units}
    tensors = {family: Tensors(counters, family, clock, **places) for family in CounterFamily}
    recorded = frozenset(tensors[CounterFamily.SQ]) | frozenset(tensors[CounterFamily.SPM])
    definitions = joined([built_in(architecture, recorded), *files])
    evaluators = {
        family: Evaluator(tensors[family], definitions, _reasons(tensors, family)) for family in CounterFamily
    }
    rows, left_out = [], 0
    mistakes = {id(row.error): (row.file, row.error) for row in definitions.rows if row.error is not None}
    for row in definitions.by_name.values():
        if row.name in recorded:
            if row.file != BUILT_IN:
                text = "{0} is the name of a recorded value, which counts; choose another name."
                sentence = Message(text, row.name)
                error = FormulaError(FormulaKind.PARSE, sentence, row.start, row.stop)
                mistakes[id(error)] = (row.file, error)
            continue
        derived = _derived(row, evaluators)
        why = derived.error
        if row.file == BUILT_IN and why is not None and why.kind is FormulaKind.UNKNOWN:
            left_out += not row.is_hidden
            continue
        if why is not None:
            mistakes.setdefault(id(why), (row.file, why))
        if not row.is_hidden:
            rows.append(derived)
    for error in definitions.errors:
        mistakes.setdefault(id(error), ("", error))
    return DerivedSet(tuple(rows), tuple(mistakes.values()), left_out, tensors, evaluators)


def _derived(row: Definition, evaluators: dict[CounterFamily, Evaluator]) -> Derived:
    results = {family: evaluators[family].result(row.name) for family in CounterFamily}
    otherwise = CounterFamily.SQ if len(evaluators[CounterFamily.SQ].given) else CounterFamily.SPM
    family = next((one for one in CounterFamily if not isinstance(results[one], FormulaError)), otherwise)
    result, match = results[family], _UNIT.match(row.comment)
    unit, tip = match.groups() if match else ("", row.comment)
    value, error = (None, result) if isinstance(result, FormulaError) else (result, None)
    uses = evaluators[family].uses(row.name)
    return Derived(row.name, row.file, family, value=value, error=error, uses=uses, unit=unit, tip=tip)


def _reasons(tensors: dict[CounterFamily, Tensors], family: CounterFamily) -> dict[str, str]:
    """Why an expected name is missing."""
    other = CounterFamily.SPM if family is CounterFamily.SQ else CounterFamily.SQ
    reasons: dict[str, str] = {
        name: Message(
            "{0} was recorded by {1}, at other times; a formula can use one kind of counter.",
            name,
            other.value,
        )
        for name in tensors[other].names
        if name not in tensors[family]
    }
    if tensors[family].grid is not None:
        reasons["SHADER_HZ"] = "The shader clock is unknown: realtime.json has no two usable clock samples."
        reasons["FREQUENCY"] = "The capture does not state a usable frequency of the constant clock."
        reasons["RCLOCK"] = "There are no clock samples: realtime.json is missing or empty."
    return reasons


def curves(value: np.ndarray, grid: CounterGrid) -> Iterator[tuple[str, StepCurve]]:
    """Yield (suffix, curve) of a result: a curve a place, at most `MAX_CURVES`, curves with values first.

    A suffix such as `_SE1` names the axes that are longer than 1.  A result of another length than the grid
    starts at the grid's beginning; a single number holds for the whole grid.
    """
    sizes = value.shape[:3]
    if not value.size:
        return
    rows = value.reshape(-1, value.shape[3])
    lively = np.flatnonzero((np.nan_to_num(rows) != 0).any(axis=1))
    for row in (lively if len(lively) else np.arange(min(1, len(rows))))[:MAX_CURVES].tolist():
        place = np.unravel_index(row, sizes)
        names = zip(("XCC", "SE", "CU"), place, sizes, strict=True)
        suffix = "".join(f"_{axis}{at}" for axis, at, size in names if size > 1)
        if value.shape[3] == 1:
            yield suffix, StepCurve(grid.times(grid.length + 1)[[0, -1]], np.repeat(rows[row], 2))
        else:
            yield suffix, StepCurve(grid.times(value.shape[3] + 1), np.append(rows[row], 0.0))


class CounterRow(Record):
    """A curve and its description."""

    name: str
    group: str  # "thread trace", "performance monitors", or the file of the formula
    curve: StepCurve
    unit: str
    tip: str
    total: float | None = None  # of all samples; None for levels and formulas
    is_raw: bool = False
    simds: int = ALL_SIMDS
    uses: frozenset[str] = frozenset()  # raw counters that a formula needs

    @property
    def why_unknown(self) -> str:
        """Why a formula has no value, a sentence; "" if it has one."""
        value = self.curve.value[:-1]
        if self.is_raw or not len(value) or np.isfinite(value).any():
            return ""
        return Message("{0} divides by zero in every sample, so it has no value.", self.name)

    @cached_property
    def extent(self) -> tuple[float, float, float]:
        """Smallest value, mean by time and largest value of the curve; nan if nothing is finite."""
        value, length = self.curve.value[:-1], np.diff(self.curve.time)
        finite = np.isfinite(value)
        value, length = value[finite], length[finite]
        if not len(value) or not length.sum():
            return (float("nan"),) * 3
        return float(value.min()), float((value * length).sum() / length.sum()), float(value.max())


def raw_rows(
    counters: Counters, engines: Collection[int] | None = None, units: Collection[int] | None = None
) -> tuple[CounterRow, ...]:
    """Return a row for each raw counter, of the chosen places; only the thread trace has units."""
    rows = []
    for counter in counters.raw:
        curve = raw_curve(counter, engines, units if counter.family is CounterFamily.SQ else None)
        gaps = silences(counter)
        silence = Message(" Without sample {0}: drawn as 0.", plural(gaps, "time")) if gaps else ""
        how = Message("Recorded by {0} every {1:,} cycles", counter.family.value, counter.interval)
        tip = Message("{0}, {1}.{2}", how, simd_names(counter.simds), silence)
        total = None if counter.is_level else curve.area / counter.interval
        group = counter.family.value
        row = CounterRow(counter.name, group, curve, unit=counter.unit, tip=tip, total=total, is_raw=True)
        rows.append(replace(row, simds=counter.simds))
    return tuple(rows)


def derived_rows(derived: DerivedSet) -> tuple[CounterRow, ...]:
    """Return a row for each curve of each formula that has a value."""
    return tuple(
        CounterRow(
            name=f"{one.name}{suffix}", group=one.file, curve=curve, unit=one.unit, tip=tip, uses=one.uses
        )
        for one in derived.rows
        if one.value is not None and (grid := derived.grid(one.family)) is not None
        for tip in [join_texts(" ", filter(None, (one.tip, Message("{0}.", shape_text(one.value)))))]
        for suffix, curve in curves(one.value, grid)
    )
