"""Reports: numbers of the other commands, links that lead somewhere, and text that stays text."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import rcv_py
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.base.errors import Cancelled, UsageError
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.cli.main import main
from rcv_py.export.report.cells import code
from rcv_py.export.report.files import make_report, write_report
from rcv_py.export.report.html import html
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.markdown import markdown
from rcv_py.export.report.model import (
    Prose,
    Report,
    ReportBars,
    ReportCell,
    ReportColumn,
    ReportCurve,
    ReportHistogram,
    ReportListing,
    ReportSection,
    ReportTable,
    Subheading,
)
from rcv_py.export.report.svg import COLORS, svg
from rcv_py.features.latency import report as sections_holds
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.kinds import kind_name
from rcv_py.state.selection import SelectedPlace
from tests.support.fixtures import fixture_of
from tests.support.opened import sample_trace
from tests.support.report_inputs import report_inputs
from tests.support.samples import sample_path, write_sample

VOID = {"meta", "br", "hr", "img", "input", "link"}
LOOPING, SHORT, SAMPLED = NAMES = ("matmul_small", "vector_add", "pc_sampling")
Reports = dict[str, Report]
_BAR = re.compile(r"(?<!\\)\|")


class Page(HTMLParser):
    """A page that must be well formed: its ids, its links, its elements, its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert len({name for name, _ in attrs}) == len(attrs), "no attribute twice"
        for name, value in attrs:
            self.attributes.append((name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def report_of(path: Path) -> Report:
    trace = open_trace(path)
    rows = list(range(len(trace.waves)))
    facts = run_facts(trace.path, trace.kernel_name, trace.target)
    return make_report(report_inputs(trace, (trace.reader.read(rows),) if rows else (), facts))


# The captures: one with loops, one of many short waves, one of PC samples
paths = fixture_of(lambda: {name: sample_path(name) for name in NAMES}, scope="module")


@pytest.fixture(scope="module")
def reports(paths: dict[str, Path]) -> Reports:
    return {name: report_of(path) for name, path in paths.items()}


def tables(report: Report, section: str) -> list[ReportTable]:
    found = next(one for one in report.sections if one.id == section)
    return [part for part in found.parts if isinstance(part, ReportTable)]


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_well_formed_and_every_link_has_its_place(name: str, reports: Reports) -> None:
    text = html(reports[name])
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert page.links
    assert all(link.startswith("#") for link in page.links), "nothing from outside"
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert "://" not in text
    assert not {name for name, _ in page.attributes if name.startswith("on")}
    assert page.tags.count("script") == 1
    assert any(value.startswith("default-src 'none'") for _, value in page.attributes)
    for word in ("@import", "url("):
        assert word not in text


@pytest.mark.parametrize("name", NAMES)
def test_markdown_tables_are_rectangular_and_links_have_places(name: str, reports: Reports) -> None:
    text = markdown(reports[name])
    rows: list[int] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith("|"):
            rows.append(len(_BAR.findall(line)))
        elif rows:
            assert len(rows) >= 2
            assert len(set(rows)) == 1, rows
            rows = []
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', text))
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert links
    assert links <= anchors
    assert "://" not in text


@pytest.mark.parametrize("name", NAMES)
def test_anchors_name_lines_waves_and_cycles(name: str, reports: Reports, paths: dict[str, Path]) -> None:
    anchors = reports[name].anchors()
    assert any(re.fullmatch(r"line-\d+", anchor) for anchor in anchors)
    if name != SAMPLED:
        assert any(re.fullmatch(r"wave-se\d+-sm\d+-sl\d+-wv\d+", anchor) for anchor in anchors)
        assert any(re.fullmatch(r"wave-se\d+-sm\d+-sl\d+-wv\d+@\d+", anchor) for anchor in anchors)
    trace = open_trace(paths[name])
    for anchor in anchors:
        if anchor.startswith(("line-", "wave-", "@")):
            assert not SelectedPlace.parse(f"/some/where/report.html#{anchor}").why_not(trace), anchor


def test_places_are_what_go_to_place_accepts(reports: Reports, paths: dict[str, Path]) -> None:
    report, trace = reports[LOOPING], open_trace(paths[LOOPING])
    per_hit = next(table for table in tables(report, "top") if "hit" in table.caption)
    assert per_hit.rows
    for row in per_hit.rows:
        where = SelectedPlace.parse(row[-1].text)
        place = where.selection
        wave = trace.reader.read([trace.waves.row(place.wave)]).waves[0]
        token = int(np.flatnonzero(wave.tokens.line == place.line)[place.hit])
        assert f"{place.line:,}" == row[0].text
        assert f"{int(wave.tokens.duration[token]):,}" == row[4].text, "most"
        assert f"{int(wave.tokens.start[token]):,}" == row[5].text
        assert where.cycle == int(wave.tokens.start[token])
    for row in tables(report, "waves")[0].rows:
        assert SelectedPlace.parse(row[0].text).selection.wave is not None
    for row in (row for table in tables(report, "findings") for row in table.rows):
        if row[0].is_code and "/simd" in row[0].text:  # evidence in a wave
            place = SelectedPlace.parse(row[0].text)
            assert not place.why_not(trace)
            if place.selection.line is None:
                continue
            wave = trace.reader.read([trace.waves.row(place.selection.wave)]).waves[0]
            token = int(np.flatnonzero(wave.tokens.line == place.selection.line)[place.selection.hit])
            assert int(wave.tokens.start[token]) == place.cycle


def asked(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    assert main([str(word) for word in words]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_hotspot(
    name: str, reports: Reports, paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = paths[name]
    document = asked(capsys, "hotspot", path, "--json", "--top", 15)
    main_table = tables(reports[name], "top")[0]
    shown = [[cell.text.replace(",", "") for cell in (row[0], *row[2:6])] for row in main_table.rows]
    expected = [
        [row[key] for key in ("instruction", "hits", "latency", "stall", "idle")] for row in document["rows"]
    ]
    assert shown == [[str(value) for value in row] for row in expected]
    by_kind = asked(capsys, "hotspot", path, "--by", "kind", "--json")
    assert latencies(tables(reports[name], "kinds")[0]) == [
        (kind_name(one["name"]), one["latency"]) for one in by_kind["rows"]
    ]
    by_class = asked(capsys, "hotspot", path, "--by", "class", "--json")
    assert latencies(tables(reports[name], "kinds")[1]) == [
        (kind_name(one["name"]), one["latency"]) for one in by_class["rows"]
    ]


def latencies(table: ReportTable) -> list[tuple[str, float | None]]:
    """Names and latencies, which are samples where there are no cycles."""
    titles = [column.title for column in table.columns]
    at = titles.index("latency" if "latency" in titles else "samples")
    return [(row[0].text, row[at].value) for row in table.rows]


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_comes_first_and_findings_are_those_of_triage(
    name: str, reports: Reports, paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    document = asked(capsys, "triage", paths[name], "--json", "--all", "--top", 0, "--no-predict")
    report = reports[name]
    assert [section.id for section in report.sections[:3]] == ["verdict", "findings", "health"]
    lead = next(part for part in report.sections[0].parts if isinstance(part, Prose))
    first = document["headline"] if document["class"] is None else document["class"]["sentence"]
    assert (lead.text, lead.is_lead) == (first, True)
    rows = tables(report, "findings")[0].rows
    full = [one for one in document["findings"] if not one["is_small"]]
    assert [(row[1].text, row[4].value or 0) for row in rows] == [
        (one["title"], one["cycles"]) for one in full
    ]
    text = " ".join(Page(html(report)).texts)
    page = markdown(report).replace("\\", "")
    assert document["headline"] in text
    assert all(one["title"] in text for one in document["findings"]), "small ones in one line"
    for one in full:
        assert one["sentence"] in text
        assert one["remedy"] in text
        assert one["remedy"] in page
        assert not one["cycles"] or f"{one['cycles']:,}" in text
        assert one["gains"] in text
        assert f"finding-{1 + full.index(one)}" in report.anchors()
        for place in one["evidence"]:
            assert place["kind"] != "line" or f"line-{place['line']}" in report.anchors()


@pytest.mark.parametrize("name", NAMES)
def test_health_is_that_of_check_with_its_input_file(
    name: str, reports: Reports, paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    document = asked(capsys, "check", paths[name], "--json")
    section = next(one for one in reports[name].sections if one.id == "health")
    assert document["verdict"] in section.intro
    heads = [part.text for part in section.parts if isinstance(part, Subheading)]
    assert heads == [note["title"] for note in document["notes"]]
    listing = next(part for part in section.parts if isinstance(part, ReportListing))
    assert "\n".join(listing.lines[1:]) + "\n" == document["input_yaml"]
    assert listing.lines[0] == f"# {document['command']}"


def test_configuration_says_where_each_fact_is_from(tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_4567_dispatch_12"
    write_sample("gfx12", folder)
    name = open_trace(folder).kernel_name
    size = "Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z"
    launches = f'Dispatch_Id,Kernel_Name,VGPR_Count,{size}\n12,"{name}",64,256,1,1,131072,1,1\n'
    (tmp_path / "run_kernel_trace.csv").write_text(launches)
    (tmp_path / "my_agent_info.csv").write_text("Agent_Type,Name,Cu_Count,Simd_Per_Cu\nGPU,gfx1200,32,4\n")
    metadata = {"pid": 1, "command": ["python", "mine.py", "--fast"]}
    (tmp_path / "my_results.json").write_text(json.dumps({"rocprofiler-sdk-tool": [{"metadata": metadata}]}))
    table = tables(report_of(folder), "configuration")[0]
    rows = {row[0].text: (row[1].text, row[2].text) for row in table.rows}
    assert rows["Workgroup"] == ("256 × 1 × 1 threads", "run_kernel_trace.csv")
    assert rows["Grid"] == ("131,072 × 1 × 1 threads, 512 workgroups", "run_kernel_trace.csv")
    assert rows["Device has"][1] == "my_agent_info.csv"
    assert rows["Device"][0] == "gfx1200"
    assert rows["Program"] == ("python mine.py --fast", "my_results.json")
    assert Path(rows["Folder"][0]) == folder
    assert rows["Report by"][0].startswith("rcv ")


def test_the_map_tells_every_line_once_by_blocks(reports: Reports, paths: dict[str, Path]) -> None:
    trace = open_trace(paths[NAMES[0]])
    overview, *blocks = tables(reports[NAMES[0]], "map")
    assert all(table.is_folded for table in blocks)
    rows = [row for table in blocks for row in table.rows]
    assert [int(row[0].value) for row in rows] == list(range(len(trace.code)))
    assert [int(row[1].text, 16) for row in rows] == trace.code.address.tolist()
    assert [row[2].text for row in rows] == list(trace.code.text)
    spans = [(int(row[1].value), int(row[2].value)) for row in overview.rows]
    assert sum(last - first + 1 for first, last in spans) == len(trace.code)
    assert sum(row[5].value for row in overview.rows) == pytest.approx(1)


def test_pages_are_small(reports: Reports) -> None:
    for report in reports.values():
        assert len(html(report).encode()) < 600_000
        assert len(markdown(report).encode()) < 512_000, "what GitHub still shows"


def test_a_report_does_not_depend_on_how_waves_were_read() -> None:
    trace = sample_trace("matmul_small")
    rows = list(range(len(trace.waves)))
    read = [trace.reader.read([row]) for row in rows]
    mixed = [trace.reader.read(part) for part in (rows[5::-2], rows[:5:-1], rows[:6:2])]
    texts = {html(make_report(report_inputs(trace, batches))) for batches in (read, read[::-1], mixed)}
    assert len(texts) == 1


def test_pages_have_both_colour_schemes_and_print_in_light(reports: Reports) -> None:
    text = html(reports[NAMES[0]])
    assert "@media screen and (prefers-color-scheme: dark){:root{" in text
    assert "@media print" in text
    assert not re.search(r'(?:fill|stroke|style)="[^"]*#[0-9a-f]{3,6}', text), "colours are variables"


@pytest.mark.parametrize("name", NAMES[:2])
def test_numbers_are_those_of_summary_and_waits(
    name: str, reports: Reports, paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = paths[name]
    document = asked(capsys, "summary", path, "--json")
    shares, states = tables(reports[name], "activity")
    assert {row[0].text: row[1].value for row in shares.rows} == document["activity"]
    assert {row[0].text.upper(): row[1].value for row in states.rows} == document["states"]
    waits = asked(capsys, "waits", path, "--json", "--top", 15)
    rows = tables(reports[name], "waits")[0].rows
    assert [row[3].value for row in rows] == [one["stall"] for one in waits["waits"]]


@pytest.mark.parametrize("name", NAMES[:2])
def test_peaks_and_registers_are_those_of_their_commands(
    name: str, reports: Reports, paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = paths[name]
    if any(section.id == "roofline" for section in reports[name].sections):
        rows = asked(capsys, "roofline", path, "--json")["rows"]
        (table,) = tables(reports[name], "roofline")
        assert [row[0].text for row in table.rows] == [row["scope"] for row in rows]
    held = asked(capsys, "registers", path, "--json")["rows"]
    table = tables(reports[name], "registers")[1]
    assert [(row[0].text, row[1].value) for row in table.rows] == [(row["file"], row["peak"]) for row in held]


def test_segments_and_accesses_are_those_of_their_commands(
    reports: Reports, paths: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    name = LOOPING
    path, found = paths[name], reports[name]
    rows = asked(capsys, "loops", path, "--by", "segments", "--top", 0, "--json")["rows"]
    (table,) = tables(found, "segments")
    assert [(row[3].value, row[4].value) for row in table.rows] == [
        (row["hits"], row["cycles"]) for row in rows
    ]
    rows = asked(capsys, "latency", path, "--by", "access", "--top", 0, "--json")["rows"]
    longer = [row for row in rows if (row["times_needed"] or 0) >= 2]
    (table,) = tables(found, "accesses")
    assert longer
    assert [row[0].value for row in table.rows] == [row["instruction"] for row in longer[: len(table.rows)]]
    others = {section.id for section in reports[SHORT].sections}
    assert not others & {"segments", "accesses"}, "no barrier, and nothing that held a unit for long"


def test_fetches_are_those_of_their_command(
    paths: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulated captures lose too little to them for a section of their own."""
    monkeypatch.setattr(sections_holds, "LEAST_SHARE", 0)
    rows = asked(capsys, "latency", paths[LOOPING], "--by", "fetch", "--top", 0, "--json")["rows"]
    (table,) = tables(report_of(paths[LOOPING]), "fetches")
    assert table.rows
    assert [row[0].value for row in table.rows] == [
        row["first_instruction"] for row in rows[: sections_holds.TOP]
    ]


def test_shares_of_causes_add_up(reports: Reports, paths: dict[str, Path]) -> None:
    table = tables(reports[LOOPING], "causes")[0]
    assert sum(row[3].value for row in table.rows) == pytest.approx(1)
    trace = open_trace(paths[LOOPING])
    assert sum(row[1].value for row in table.rows) == trace.code.stall.sum()


EVIL = '</title><script>alert(1)</script>"><img src=x onerror=alert(2)>`|`[x](javascript:1)<b>&amp;'


def test_text_of_a_capture_stays_text(paths: dict[str, Path]) -> None:
    trace = open_trace(paths[SHORT])
    kernel = replace(trace.code.kernels[0], name=EVIL, demangled=EVIL)
    texts = tuple(f"{EVIL} {at}" for at in range(len(trace.code)))
    sources = tuple(replace(one, path=EVIL, lines=(EVIL,) * 2000) for one in trace.sources)
    bad = replace(trace, name=EVIL, sources=sources, code=replace(trace.code, text=texts, kernels=(kernel,)))
    report = make_report(ReportInputs(InMemory(bad, [bad.reader.read(list(range(len(bad.waves))))])))
    page = Page(html(report))
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    text = html(report)
    assert text.count("<b>") == text.count("<b>&lt;/title"), "bold is only what is ours"
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert any(EVIL in text for text in page.texts)
    text = markdown(report)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)  # code spans show what is in them
    outside = re.sub(r"^```.*?^```", "", outside, flags=re.M | re.S)  # so do listings
    tags = set(re.findall(r"(?<!\\)<(/?\w+)", outside))
    assert tags <= {"a", "/a", "details", "/details", "summary", "/summary"}
    assert not re.search(r"(?<!\\)\]\(javascript", outside)
    assert {len(_BAR.findall(line)) for line in text.split("\n") if EVIL[:8] in line and line[0] == "|"}


def test_a_link_to_nowhere_is_no_link() -> None:
    cells = (ReportCell("here", link="line-1"), code("there", "", "line-2"), ReportCell("a", link="line-2"))
    table = ReportTable((ReportColumn("x", cells),))
    report = Report("t", "s", (ReportSection("one", "One", (table, Subheading("h", "line-2"))),), "rcv")
    assert Page(html(report)).links == ["#line-2"]
    assert "#line-1" not in markdown(report)


def test_plots_are_numbers_in_markdown_and_colours_have_two_shades() -> None:
    curve = ReportCurve("c", [0, 10, 20], [1, 5, 0])
    bins = ReportHistogram("b", [0, 4, 8], [3, 0])
    report = Report("t", "s", (ReportSection("one", "One", (curve, bins, ReportBars("n", (), ()))),), "rcv")
    text = markdown(report)
    assert "| 10 | 5 |" in text
    assert "| 0 to 4 | 3 |" in text
    assert 'd="M48.0' in svg(curve)
    assert svg(bins).count("<rect") == 1
    page = html(report)
    for name, pair in COLORS.items():
        assert f"--{name}:{pair.light}" in page
        assert f"--{name}:{pair.dark}" in page


def test_a_long_curve_keeps_its_peak() -> None:
    values = [1] * 50_000
    values[31_234] = 99
    drawn = svg(ReportCurve("c", list(range(50_000)), values))
    assert len(drawn) < 60_000
    assert "V8.0" in drawn, "the peak reaches the top"


def test_every_sample_has_a_report(tmp_path: Path) -> None:
    for name in ("gfx11", "events", "placeholder", "pc_sampling"):
        write_sample(name, tmp_path / name, 0)
        report = report_of(tmp_path / name)
        Page(html(report))
        assert markdown(report)
        assert {"configuration", "how"} <= {section.id for section in report.sections}


def test_names_say_the_form_and_work_can_be_stopped(paths: dict[str, Path], tmp_path: Path) -> None:
    trace = open_trace(paths[SHORT])
    with pytest.raises(UsageError):
        write_report(ReportInputs(InMemory(trace, ())), tmp_path / "r.pdf")
    flag = CancelFlag()
    flag.set()
    with pytest.raises(Cancelled), stoppable(flag):
        write_report(ReportInputs(InMemory(trace, ())), tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_predictions_and_the_critical_path(tmp_path: Path) -> None:
    """Only a report that was asked for them has them."""
    capture = rcv_py.open(sample_path("matmul_small"))
    plain, told = (
        capture.report(tmp_path / f"{predict}.md", predict=predict).read_text() for predict in (False, True)
    )
    for words in ("## What if", "## The critical path", "not a promise", "issue arbitration"):
        assert words in told
        assert words not in plain
    found = capture.triage(every_wave=True, predict=True).result
    first = next(one for one in found.findings if one.predicted is not None)
    assert first.predicted.text in told
