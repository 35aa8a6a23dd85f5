"""Analyses of what instructions cost: rankings, blocks, flamegraphs, single lines, and the summary."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.cost.distribution import MEASURES, LineHits, line_hits
from rcv_py.analysis.cost.distribution_view import Wanted, distribution_view
from rcv_py.analysis.cost.listing import NAMES as LISTINGS
from rcv_py.analysis.cost.listing import Listing, listing
from rcv_py.analysis.cost.ranking import BY, SORT, Ranked, ranking
from rcv_py.analysis.cost.stall_reasons import StallReasons, reason_name, stall_reasons
from rcv_py.analysis.flame.flame import FlameTree
from rcv_py.analysis.flame.flame_frames import CONTENTS, METRICS, flame_tree, frame_rows
from rcv_py.analysis.flame.flame_layout import Order
from rcv_py.analysis.overview.device_summary import DeviceSummary, device_summary
from rcv_py.analysis.overview.summary import info
from rcv_py.analysis.overview.summary_rows import NAMES as SUMMARY
from rcv_py.analysis.overview.summary_rows import summary_rows
from rcv_py.analysis.waves.populations import POPULATION_HEAD, WORKING, Populations, population_rows
from rcv_py.api.answer import Answer, by_name, by_row
from rcv_py.api.choice import one_of
from rcv_py.api.errors import noted
from rcv_py.api.reading import Waves
from rcv_py.api.tables import Tables
from rcv_py.base.errors import UsageError
from rcv_py.model.modes import LatencyMode

_RANKED = ("name", "text", "line", "rows", "hits", "latency", "stall", "idle", "share", "source")
_FRAMES = ("what", "name", "full_name", "line", "source", "parent", "depth", "begin", "self", "total")


class Costs(Tables):
    """Which code costs how much."""

    def info(self) -> dict[str, Any]:
        """Return what the capture holds as plain values, as `rcv info --json`; no wave is read."""
        return info(self.trace)

    def populations(self) -> Answer[Populations]:
        """Return the ways that waves took through the code, and which work: `rcv waves --populations`.

        The argument `waves` of analyses takes their ids; reads all waves.
        """
        found = self.ways
        facts = {
            "read": found.read,
            "traced": len(self.trace.waves),
            "instructions_ran": found.ran,
            "instructions": found.of,
        }
        rows = [list(row.values()) for row in population_rows(found)]
        return Answer("populations", by_row(POPULATION_HEAD, rows), found, facts)

    def summary(self, waves: Waves = WORKING) -> Answer[DeviceSummary]:
        """Return the page of `rcv summary` as one long table; `result` has its parts.

        Lives, states and cycles are those of `waves`; SIMDs are busy with all of them.
        """
        return self._once("summary", waves, lambda: self._summary(waves))

    def _summary(self, waves: Waves) -> Answer[DeviceSummary]:
        found = device_summary(self.trace, self._all(), self._rows(waves))
        rows = [(section, name, str(value), str(of)) for section, name, value, of in summary_rows(found)]
        facts = {fact.id: fact.value for fact in found.facts}
        return Answer("summary", by_row(SUMMARY, rows), found, facts)

    def hotspot(
        self, by: str = "line", sort: str = "latency", waves: Waves = None
    ) -> Answer[tuple[Ranked, ...]]:
        """Return the most expensive code, the first first, by `line`, `source`, `kind` or `class`.

        `sort` is `latency`, `stall`, `idle` or `hits`; `share` is the part of it.  Sums over all traced
        waves unless `waves` names some, not elapsed time; `facts["measure"]` says whether they are cycles or
        PC samples.
        """
        one_of("by", by, BY)
        one_of("sort", sort, SORT)
        costs = cost_columns(self._counted(waves).code, LatencyMode.SUM_ALL, None, None)
        found = ranking(self.trace.code, self.trace.sources, costs, by, sort)
        rows = [[getattr(row, name) for name in _RANKED] for row in found]
        totals = {name: int(getattr(costs, name).sum()) for name in ("hits", "latency", "stall", "idle")}
        return Answer("hotspot", by_row(_RANKED, rows), found, {"measure": costs.label, "totals": totals})

    def isa(self, kind: str = "lines", waves: Waves = None) -> Answer[Listing]:
        """Return the `lines` of the listing with their blocks, its basic `blocks`, or its `branches`.

        Numbers are those of all waves unless `waves` names some.
        """
        one_of("kind", kind, tuple(LISTINGS))
        found = listing(self._counted(waves), kind, lambda: self._all(waves))
        return Answer(f"isa {kind}", by_row(found.names, found.rows), found, {"measure": found.measure})

    def line(self, line: int, waves: Waves = WORKING) -> Answer[LineHits]:
        """Return every execution of a code line; `facts` tell how latency, stall, idle and distance spread.

        By default executions of the waves that work.
        Raises UsageError if there is no such line.  PC samples know no executions: see `samples`.
        """
        self._check_line(line)
        hits = line_hits(self._all(waves), line)
        ids = self.waves["wave"]
        columns = {
            "wave": ids[hits.wave],
            **{name: getattr(hits, name) for name in ("hit", "token", "start")},
        }
        columns |= {name: hits.measure(name) for name in MEASURES}
        spreads = {name: distribution_view(hits, Wanted(name, 2)).spread for name in MEASURES}
        facts = {name: None if spread is None else asdict(spread) for name, spread in spreads.items()}
        return Answer("line", columns, hits, facts)

    def samples(self, line: int | None = None) -> Answer[StallReasons]:
        """Return how often PC samples of a code line (None: of all) issued, and why the others did not."""
        if line is not None:
            self._check_line(line)
        found = stall_reasons(self.trace.code, slice(None) if line is None else slice(line, line + 1))
        rows = [("issued", found.issued), *((reason_name(one), number) for one, number in found.ranked())]
        return Answer("samples", by_row(("reason", "samples"), rows), found, {"stalled": found.stalled})

    def _check_line(self, line: int) -> None:
        if not 0 <= line < len(self.trace.code):
            raise noted(
                UsageError(
                    f"The capture has no line {line}.",
                    hint=f"It has {len(self.trace.code):,}, counted from 0.",
                )
            )

    def flame(
        self, content: str = "source", metric: str = "total", order: str = "heavy"
    ) -> Answer[FlameTree]:
        """Return the flamegraph: one row a frame, `parent` is the row of the frame around it, -1 for none.

        `content` is `source`, `kernel`, `markers` or `both`; `metric` is `total`, `nonhidden`, `stall` or
        `hits`; `order` is `heavy`, `execution` or `name`.  Raises UsageError where the capture cannot tell.
        """
        one_of("content", content, CONTENTS)
        one_of("metric", metric, tuple(METRICS))
        one_of("order", order, tuple(one.value for one in Order))
        tree, note = flame_tree(self.trace, content, METRICS[metric], self._all)
        rows = frame_rows(self.trace, tree, METRICS[metric], Order(order))
        facts = {"total": tree.whole(METRICS[metric]), "unit": tree.unit, "note": note}
        return Answer("flame", by_name(rows, _FRAMES), tree, facts)
