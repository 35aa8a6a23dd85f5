"""Captures of successive builds: how each differs from an earlier build, beyond noise."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rcv_py.analysis.compare.compare import compare
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.verdict import Judgement, Verdict
from rcv_py.base.record import Value
from rcv_py.base.text import short_kernel

NAN = float("nan")


class Build(Value):
    """A capture and the costs of its waves, or why they are unknown."""

    path: Path
    name: str
    written: str = ""  # time as `2026-05-01T12:00:00Z`; "" if unknown
    costs: CaptureCosts | None = None
    traced: int = 0  # waves that the capture names
    duration_ns: float = NAN  # of the launch
    problems: tuple[str, ...] = ()
    doubt: str = ""  # why the duration in the tables of the run is not used
    error: str = ""

    @property
    def duration(self) -> int:
        """Cycles of the launch, -1 if unknown."""
        return -1 if self.costs is None or self.costs.launch is None else self.costs.launch.duration


class BuildStep(Value):
    """A build compared with an earlier build; unknown numbers are -1 or nan."""

    build: Build
    before: str = ""  # name of the earlier capture; "": there is none to compare with
    judgement: Judgement | None = None
    of_first: float = NAN  # duration of its launch over the first launch of the series

    @property
    def kernel(self) -> str:
        """Short name of the kernel, "" if unknown."""
        return "" if self.build.costs is None else short_kernel(self.build.costs.kernel)

    @property
    def waves(self) -> int:
        """Waves whose costs are compared."""
        return -1 if self.build.costs is None else self.build.costs.wave_count

    @property
    def ratio(self) -> float:
        """Cycles over the cycles of the earlier capture."""
        ratio = None if self.judgement is None else self.judgement.ratio
        return NAN if ratio is None else ratio.value

    @property
    def noise(self) -> float:
        """The uncertainty of the ratio."""
        ratio = None if self.judgement is None else self.judgement.ratio
        return NAN if ratio is None else ratio.noise

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the comparison."""
        return None if self.judgement is None else self.judgement.verdict


def steps(
    series: Iterable[Build], *, measure: str = "cost", threshold: float | None = None
) -> Iterator[BuildStep]:
    """Yield the comparison of each build with the previous build of the same kernel; see `compare`.

    If the two cannot be compared, for example because the problem size differs, a new series begins.
    A capture without traced waves, such as PC samples, is not comparable either, but the series goes on.
    """
    first: dict[str, Build] = {}
    before: dict[str, Build] = {}
    for build in series:
        if build.costs is None:
            yield BuildStep(build)
            continue
        kernel = build.costs.kernel
        start = first.get(kernel, build)
        found = step(build, before.get(kernel), start, measure=measure, threshold=threshold)
        yield found
        if not build.costs.wave_count:
            continue
        before[kernel] = build
        if kernel not in first or found.verdict is Verdict.NOT_COMPARABLE:
            first[kernel] = build


def step(
    build: Build,
    before: Build | None,
    first: Build,
    *,
    measure: str = "cost",
    threshold: float | None = None,
    replicate: CaptureCosts | None = None,
    seed: int = 0,
) -> BuildStep:
    """Compare a build with an earlier build; see `compare`."""
    if before is None or before.costs is None or build.costs is None:
        return BuildStep(build)
    both = compare(before.costs, build.costs, seed, measure=measure, threshold=threshold, replicate=replicate)
    is_known = both.verdict is not Verdict.NOT_COMPARABLE and min(build.duration, first.duration) > 0
    of_first = build.duration / first.duration if is_known else NAN
    return BuildStep(build, before.name, both.judgement, of_first)
