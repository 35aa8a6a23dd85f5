"""The page to look around in: its columns say what the capture says, everything is bounded and inert, and a
browser shows places that are linked."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtQml import QJSEngine
from PySide6.QtWidgets import QApplication

import rcv_py
from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.base.problems import Severity
from rcv_py.cli.main import main
from rcv_py.export.interactive import content
from rcv_py.export.interactive import page as pages
from rcv_py.export.interactive.packed import PackedColumns, packed
from rcv_py.export.interactive.page import interactive_page
from rcv_py.formats.open import open_trace
from rcv_py.model.notes import Anchor, Note
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from tests.support import browser as browsers
from tests.support.browser import Browser, browser
from tests.support.hostile_text import hostile
from tests.support.report_inputs import report_inputs
from tests.support.samples import sample_path, write_sample

LOGIC = (Path(pages.__file__).parent / "logic.js").read_text().replace("const Rcv", "var Rcv", 1)
_DATA = re.compile(r'<script type="application/octet-stream" id="data">([A-Za-z0-9+/=]+)</script>')


def page_of(path: Path) -> str:
    trace = open_trace(path)
    rows = list(range(len(trace.waves)))
    batches = (trace.reader.read(rows),) if rows else ()
    return interactive_page(report_inputs(trace, batches)).decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page") / "matmul"
    write_sample("matmul_small", made)
    return made


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return page_of(folder)


class Script:
    """The page's own functions, without a page."""

    def __init__(self) -> None:
        self._engine = QJSEngine()
        self(LOGIC + ";1")

    def give(self, name: str, value: object) -> None:
        self._engine.globalObject().setProperty(name, self._engine.toScriptValue(value))

    def __call__(self, script: str) -> Any:
        done = self._engine.evaluate(script)
        assert not done.isError(), done.toString()
        return done.toVariant()

    def json(self, script: str) -> Any:
        return json.loads(self(f"JSON.stringify({script})"))

    def read(self, page: str) -> None:
        """Unpack a page as a browser without its own inflate does."""
        found = _DATA.search(page)
        self.give("letters", found[1])
        self("var page = Rcv.unpacked(Rcv.inflated(Rcv.fromBase64(letters)));1")
        self("var waves = Rcv.wavesOf(page), tokens = Rcv.tokensOf(page, waves), code = Rcv.codeOf(page);1")


@pytest.fixture
def script(qapp: QApplication) -> Script:
    return Script()


def test_columns_are_unpacked_as_they_were(script: Script) -> None:
    rng = np.random.default_rng(7)
    wanted = {
        "small": rng.integers(0, 255, 400),
        "signed": rng.integers(-300, 300, 400),
        "wide": np.array([0, 254, 255, 256, -1, 1 << 40, -(1 << 51), (1 << 52) - 1]),
        "fours": 4 * rng.integers(0, 1000, 50),
        "none": np.zeros(0, dtype=np.int64),
    }
    columns = PackedColumns()
    for name, values in wanted.items():
        columns.put(name, values)
    script.give("letters", packed({"text": 'é </script> \u2028 "'}, columns))
    found = script.json("Rcv.unpacked(Rcv.inflated(Rcv.fromBase64(letters)))")
    assert found["text"] == 'é </script> \u2028 "'
    for name, values in wanted.items():
        read = found["columns"][name]
        assert [read[str(at)] for at in range(len(read))] == values.tolist(), name


def test_inflating_knows_every_kind_of_block(script: Script) -> None:
    import zlib

    text = bytes(range(256)) * 40 + b"abcabcabc" * 500
    for level, strategy in ((0, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_FIXED)):
        deflate = zlib.compressobj(level, zlib.DEFLATED, 15, 9, strategy)
        script.give("letters", b64encode(deflate.compress(text) + deflate.flush()).decode())
        sums = script.json(
            "(function (b) { return [b.length, b.reduce((s, v, i) => s + v * (i % 251), 0)]; })"
            "(Rcv.inflated(Rcv.fromBase64(letters)))"
        )
        assert sums == [len(text), sum(value * (at % 251) for at, value in enumerate(text))]
    script.give("letters", b64encode(zlib.compress(text)[:50]).decode())
    with pytest.raises(AssertionError, match="ends too early"):
        script("Rcv.inflated(Rcv.fromBase64(letters))")


def test_every_token_and_cost_is_on_the_page(script: Script, page: str, folder: Path) -> None:
    script.read(page)
    trace = open_trace(folder)
    read = {wave.row: wave for wave in trace.reader.read(list(range(len(trace.waves)))).waves}
    rows = script.json("Array.from(waves.row)")
    assert rows == sorted(read)
    first = script.json("Array.from(waves.first)")
    found = {
        name: np.array(script.json(f"Array.from(tokens.{name})"))
        for name in ("start", "stall", "busy", "line", "kind")
    }
    for at, row in enumerate(rows):
        tokens, own = read[row].tokens, slice(first[at], first[at + 1])
        assert (found["start"][own] == tokens.start - trace.span.begin).all()
        for name in ("stall", "busy", "line", "kind"):
            assert (found[name][own] == getattr(tokens, name)).all(), name
        assert script(f"Rcv.waveName(waves, {at})") == str(read[row].id)
    assert script.json("code.text") == list(trace.code.text)
    costs = cost_columns(trace.code)
    for name in ("hits", "latency", "stall", "idle"):
        assert script.json(f"Array.from(code.{name})") == getattr(costs, name).tolist()


def test_sources_are_charged_what_the_command_says(script: Script, page: str, folder: Path) -> None:
    script.read(page)
    said = rcv_py.open(folder).hotspot(by="source")
    script("var costs = Rcv.sourceCosts(code);1")
    found = script.json(
        "Array.from(costs).map(function (file) { return Array.from(file[1].lines).map(function (line) {"
        " return [page.sources[file[0]].path + ':' + line[0], line[1].cost]; }); })"
    )
    costs = {place: cost for file in found for place, cost in file if cost}
    assert costs == {
        row["name"]: row["latency"] + row["idle"] for row in said.rows() if row["latency"] + row["idle"]
    }


def test_a_pixel_shows_what_takes_most_of_it(script: Script) -> None:
    """Two tokens: 10 cycles of stall and 10 of VALU (6) from 0, and 5 of LDS (5) from 37."""
    script(
        "var t = {start: [0, 37], stall: [10, 0], busy: [10, 5], kind: [6, 5], line: [0, 1]};"
        "var out = new Uint8Array(5);1"
    )
    raster = "(out.fill(0), Rcv.raster(t, 0, 2, {}, {}, out), Array.from(out))"
    stall, faint = 32, 64
    assert script.json(raster.format(0, 10)) == [7 | stall, 7, 0, 6 | faint, 6 | faint]
    assert script.json(raster.format(0, 5)) == [7 | stall, 7 | stall, 7, 7, 0]
    assert script.json(raster.format(-10, 20)) == [7 | stall, 7, 6 | faint, 0, 0]
    script.give("time", 18)
    assert script("Rcv.tokenAt(t, 0, 2, time)") == 0
    assert script("Rcv.tokenAt(t, 0, 2, 30)") == -1
    assert script("Rcv.tokenAt(t, 0, 2, 41)") == 1


def test_zoom_keeps_the_place_under_the_mouse_and_stays_inside(script: Script) -> None:
    zoomed = partial("Rcv.zoomed({{begin: {}, end: {}}}, {}, {}, 1000)".format)
    assert script.json(zoomed(0, 1000, 250, 0.5)) == {"begin": 125, "end": 625}
    assert script.json(zoomed(0, 1000, 250, 4)) == {"begin": 0, "end": 1000}
    assert script.json(zoomed(900, 1000, 990, 2)) == {"begin": 800, "end": 1000}
    assert script.json("Rcv.ticks(104616, 285728, 9)") == list(range(120000, 285728, 20000))
    arrows = "[{from: 1, to: 9}, {from: 2, to: 3}, {from: 5, to: 4}, {from: 3, to: 8}]"
    assert script.json(f"Rcv.lanes({arrows}, 2)") == [-1, 0, 0, 1]


def test_anchors_are_those_of_reports(script: Script) -> None:
    assert script.json("Rcv.anchor('#line-118')") == {"line": 118}
    assert script.json("Rcv.anchor('#wave-se0-sm2-sl5-wv3@126704')") == {
        "wave": "se0/simd2/slot5/wv3",
        "cycle": 126704,
    }
    for text in ("", "#", "#line-", "#wave-se0", "#line-1<b>"):
        assert script.json(f"Rcv.anchor({text!r})") is None


def test_the_policy_names_each_script_and_allows_no_other(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    said = policy[1].replace("&#x27;", "'")
    assert "default-src 'none'" in said
    assert "unsafe" not in said
    for tag in ("script", "style"):
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(re.findall(rf"<{tag}\b", page)) == len(texts) + (tag == "script"), "beside the data"
        for text in texts:
            assert b64encode(sha256(text.encode()).digest()).decode() in said
    for outside in ("://", "@import", "url(", "innerHTML", "insertAdjacent", "document.write", "eval("):
        assert outside not in page
    assert not re.search(r"<[a-z][^>]*\son[a-z]+=", page)


def test_text_of_a_capture_is_data(tmp_path: Path) -> None:
    page = page_of(hostile(tmp_path, "matmul_small", tmp_path / "probe.png"))
    head, _, _ = page.partition("<body>")
    outside = _DATA.sub("", page)
    for evil in ("probe.png", "evil.example", "<b>b</b>", "\u202e", "\x1b"):
        assert evil not in outside
    assert head.count("<title>") == 1


def test_pages_are_bounded_and_say_so(script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = open_trace(folder)
    for name, most in {"MAX_CODE": 10, "MAX_SOURCE": 10, "MAX_STEPS": 8}.items():
        monkeypatch.setattr(content, name, most)
    monkeypatch.setattr(pages, "MAX_TOKENS", int(0.5 * _tokens(trace)))
    script.read(page_of(folder))
    assert 0 < script("tokens.line.length") <= 0.5 * _tokens(trace)
    assert script("waves.row.length") == len(trace.waves)
    assert script("code.text.length") == 10
    costs = cost_columns(trace.code).cost
    kept = script.json("Array.from(code.row)")
    assert sorted(costs[kept])[-9:] == sorted(costs)[-9:], "the costliest are kept, and a label"
    said = script.json("page.about.left_out")
    assert len(said) == 2
    assert f"of {len(trace.waves):,} waves" in said[0]
    assert not script.json("page.sources.filter(function (one) { return one.text; })")
    assert script("page.columns['device.time'].length") <= 8 + script("page.device.rows.length")


def test_rare_repeats_leave_room(script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _tokens(open_trace(folder))
    monkeypatch.setattr(pages, "MAX_TOKENS", whole)
    monkeypatch.setattr(pages, "MAX_LETTERS", 1)
    monkeypatch.setattr(pages, "MIN_TOKENS", whole // 4)
    script.read(page_of(folder))
    assert 0 < script("tokens.line.length") <= whole // 16


def _tokens(trace: Trace) -> int:
    return sum(len(wave.tokens) for wave in trace.reader.read(list(range(len(trace.waves)))).waves)


def test_a_capture_takes_little_room() -> None:
    takes_little_room(sample_path("matmul_tiled"))


def takes_little_room(source: Path) -> None:
    """At most 3 MB for a capture of 10 MB."""
    size = sum(file.stat().st_size for file in source.iterdir())
    assert len(page_of(source)) < 0.3 * size


def test_notes_are_on_the_page_with_their_places(script: Script, folder: Path) -> None:
    trace = open_trace(folder)
    wave, begin = trace.waves.id(1), int(trace.waves.begin[1])
    anchor = Anchor(instructions=(3, 4), wave=wave, span=TimeWindow(begin + 8, begin + 9))
    found = report_inputs(trace, (trace.reader.read(list(range(len(trace.waves)))),))
    found.notes = (
        Note("1", "plain"),
        Note("2", "</script><b>slow", "why", Severity.ERROR, anchor, author="me"),
    )
    page = interactive_page(found).decode()
    assert "<b>slow" not in page
    script.read(page)
    (notes,) = (one for one in script.json("page.lists") if one["title"] == "Notes")
    assert [item["title"] for item in notes["items"]] == ["</script><b>slow", "plain"]
    (place,) = notes["items"][0]["places"]
    begin -= trace.span.begin
    assert (place["line"], place["wave"]) == (3, 1)
    assert (place["begin"], place["end"]) == (begin + 8, begin + 9)


def test_lists_lead_to_costly_instructions_and_loops(script: Script, page: str, folder: Path) -> None:
    code = json.loads((folder / "code.json").read_text())["code"]
    script.read(page)
    lists = {one["title"]: one for one in script.json("page.lists")}
    costliest = [row["line"] for row in lists["What costs most (latency)"]["rows"]]
    assert costliest == sorted(range(len(code)), key=lambda row: -code[row][7])[:10]
    assert str(costliest[0]) in lists["What costs most (latency)"]["rows"][0]["name"]
    (loop, *_) = lists["Loops"]["rows"]
    back = int(loop["name"].split()[-1])
    assert code[back][0].startswith("s_cbranch")
    assert loop["line"] < back
    assert "the main loop" in loop["text"]
    assert "line" not in lists["Room for waves"]["rows"][0]


def test_the_command_and_the_api_write_it(
    tmp_path: Path, folder: Path, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    assert main(["report", str(folder), "--interactive", "--no-predict", "--out", str(out)]) == 0
    assert out.read_text() == page
    assert main(["report", str(folder), "--interactive", "--out", str(tmp_path / "page.md")]) == 2
    assert main(["report", str(folder), "--interactive", "--format", "md"]) == 2
    assert "--interactive" in capsys.readouterr().err
    written = rcv_py.open(folder).report(tmp_path / "again.html", interactive=True, predict=False)
    assert written.read_text() == page
    with pytest.raises(rcv_py.UsageError, match="what kind of report"):
        rcv_py.open(folder).report(tmp_path / "page.md", interactive=True)


# -- in a browser ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, page: str) -> Iterator[tuple[Browser, Path]]:
    if browsers.PROGRAM is None:
        pytest.skip(browsers.NONE)
    folder = tmp_path_factory.mktemp("browser")
    (folder / "page.html").write_text(page)
    with browser(folder / "profile") as one:
        yield one, folder / "page.html"


CHOSEN = 'document.querySelector("#{} .row.is-chosen").textContent'
PAINTED = """(function (canvas) {
    const drawn = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(drawn.data.buffer)).size;
})(document.querySelector("#{} canvas"))"""  # how many colours there are


def test_a_browser_shows_both_timelines_and_asks_for_nothing(seen: tuple[Browser, Path]) -> None:
    one, path = seen
    grounds = set()
    for scheme in ("light", "dark"):
        one.scheme(scheme)
        one.open(path)
        one.painted()
        assert one.run('document.getElementById("problem").hidden')
        assert one.run(PAINTED.replace("{}", "unit")) > 20
        assert one.run(PAINTED.replace("{}", "device")) > 4
        grounds.add(one.run("getComputedStyle(document.body).backgroundColor"))
        assert one.complaints() == []
        assert one.requested() == [path.as_uri()]
    assert len(grounds) == 2
    one.run("fetch('https://example.invalid/').then(() => 'asked', () => 'refused')")
    assert any("connect-src" in said or "Content Security Policy" in said for said in one.complaints())


def test_a_finding_leads_to_listing_source_and_timeline(seen: tuple[Browser, Path]) -> None:
    one, path = seen
    one.open(path)
    places = one.run('Array.from(document.querySelectorAll(".place"), one => one.textContent)')
    which = next(at for at, text in enumerate(places) if text.startswith("instruction "))
    line = int(places[which].split()[1])
    one.run(f'document.querySelectorAll(".place")[{which}].click()')
    assert cells(one, "isa")[0] == str(line)
    assert cells(one, "source")[0].isdigit()
    said = one.run('document.getElementById("chosen").textContent')
    assert re.match(rf"execution 1 of [\d,]+ on this page · {line}  ", said)
    one.run('document.getElementById("next").click()')
    assert one.run('document.getElementById("chosen").textContent').startswith("execution 2 of")
    assert one.complaints() == []


def cells(one: Browser, section: str) -> list[str]:
    """What is said in the chosen row of a list."""
    row = f'document.querySelector("#{section} .row.is-chosen").children'
    return [text for text in one.run(f"Array.from({row}, one => one.textContent)") if text]


def test_an_opened_finding_goes_to_its_first_place(seen: tuple[Browser, Path]) -> None:
    one, path = seen
    one.open(path)
    one.run("document.querySelectorAll('#findings details').forEach(fold => { fold.open = false; })")
    one.run("document.querySelector('#findings summary').click()")
    one.painted()
    first = "document.querySelector('#findings .place')"
    assert one.run(f"{first}.classList.contains('is-chosen') && {first}.checkVisibility()")


def test_the_mouse_zooms_and_chooses(seen: tuple[Browser, Path]) -> None:
    one, path = seen
    one.open(path)
    one.painted()
    box = one.run('JSON.stringify(document.querySelector("#unit canvas").getBoundingClientRect())')
    place = json.loads(box)
    x, y = place["x"] + 500, place["y"] + 18 + 8
    before = one.run(PAINTED.replace("{}", "unit"))
    for _ in range(6):
        one.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    one.painted()
    assert one.run(PAINTED.replace("{}", "unit")) != before
    one.click(x, y)
    said = one.run('document.getElementById("chosen").textContent')
    assert re.search(r"execution [\d,]+ of .* · se\d/simd\d/slot\d/wv\d+ · at [\d,]+ · stall", said), said
    assert re.search(r"\d", one.run(CHOSEN.replace("{}", "isa")))
    assert one.complaints() == []


def test_an_address_names_a_place(seen: tuple[Browser, Path], folder: Path) -> None:
    one, path = seen
    one.open(path)
    one.run("location.hash = '#line-7'")
    one.painted()
    assert cells(one, "isa")[0] == "7"
    assert one.complaints() == []
