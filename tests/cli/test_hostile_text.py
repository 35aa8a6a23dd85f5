"""Whatever a capture is called and holds: no command lets it steer a terminal, a spreadsheet or a page."""

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.base.markdown import md_code, md_in_tags, md_text
from rcv_py.base.progress import Stage
from rcv_py.base.text import visible
from rcv_py.cli.main import main
from rcv_py.cli.terminal import SanitizedStream, progress
from tests.support.command_runs import ON_A_CAPTURE, Run, in_forms, of_capture, run
from tests.support.hostile_text import CONTROLS, FOLDER, hostile, is_formula, markup, unseen
from tests.support.programs import Terminal

OTHERS = {  # what `matmul_small` has nothing of
    "markers": {"events": ("",), "flame": ("--content kernel",), "info": ("",)},
    "counters": {"counters": ("", "--list"), "check": ("",), "summary": ("",)},
    "kernels": {"occupancy": ("--by kernel",), "info": ("",), "hotspot": ("--by tree",)},
    "pc_sampling": {"hotspot": ("--top 3",), "isa": ("--top 3",)},
}
EXTRA = {"flame": ("--folded",), "triage": ("--markdown",), "check": ("--yaml",), "hotspot": ("",)}


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    probe = tmp_path_factory.mktemp("probe") / "probe.png"
    names = ("matmul_small", *OTHERS)
    return {name: hostile(tmp_path_factory.mktemp(name), name, probe) for name in names}


def runs(folder: Path, table: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str, Run]]:
    """Every command of a table in every form."""
    for command, variants in table.items():
        for more in variants:
            forms = ("", "--json", "--csv", *EXTRA.get(command, ()))
            told = in_forms(command, folder, more, [(form,) if form else () for form in forms])
            for form, done in zip(forms, told, strict=True):
                yield f"{command} {more} {form}", form, done


@pytest.mark.parametrize("name", ["matmul_small", *OTHERS])
def test_no_output_steers_a_terminal_or_a_spreadsheet(name: str, captures: dict[str, Path]) -> None:
    table = OTHERS.get(name, ON_A_CAPTURE)
    wrong, texts = [], ""
    for words, form, done in runs(captures[name], table):
        assert done.code in (0, 2, 3, 4), (words, done.err)
        wrong += [(words, found) for found in unseen(done.out + done.err)]
        if form == "--json" and done.code == 0:
            texts += str(json.loads(done.out))
            continue
        lines = (done.out + done.err).splitlines()
        wrong += [(words, line) for line in lines if line.lstrip("'\"").startswith("FORGED")]
        if form == "--csv":
            rows = csv.reader(io.StringIO(done.out))
            wrong += [(words, cell) for row in rows for cell in row if is_formula(cell)]
    assert not wrong, wrong[:10]
    assert repr(CONTROLS)[1:-1] in texts, "JSON says all of it"


def test_json_is_the_text_itself(captures: dict[str, Path]) -> None:
    folder = captures["matmul_small"]
    told = json.loads(of_capture("isa", folder, "--top 0", "--json").out)
    given = {row[0] for row in json.loads((folder / "code.json").read_text())["code"]}
    assert given == {row["text"] for row in told["rows"]}


EVIL = "\x1b]0;x\x07\u202e\x9b\nFORGED"


@pytest.mark.parametrize(
    "words",
    [
        ("info", EVIL),
        ("info", f"/tmp/{EVIL}"),
        (EVIL,),
        (f"./{EVIL}",),
        ("info", "--" + EVIL, "x"),
        ("hotspot", "x", "--by", EVIL),
        ("hotspot", "x", "--top", EVIL),
        ("schema", EVIL),
        ("synth", EVIL),
        ("shot", "x", "--out", EVIL),
        ("shot", ".", "--panel", EVIL, "--out", "x.png"),
        ("report", EVIL),
        ("index", EVIL),
        ("compare", EVIL, EVIL),
        ("export", EVIL, "--to", "csv", "--out", EVIL),
    ],
    ids=lambda words: f"{words[0]!a} {len(words)}",
)
def test_words_of_the_command_line_are_told_as_they_are_seen(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.code == 2
    assert done.err
    assert not unseen(done.out + done.err)
    assert not [line for line in done.err.splitlines() if line.startswith("FORGED")], done.err


@pytest.mark.parametrize("words", ["search --match {}", "wave {}", "line {}", "place {}"])
def test_what_is_looked_for_is_told_as_it_is_seen(words: str, captures: dict[str, Path]) -> None:
    command, *more = words.split()
    done = run(command, str(captures["matmul_small"]), *(word.format(EVIL) for word in more))
    assert not unseen(done.out + done.err)
    assert "x1b" in done.out + done.err


# -- the way out ------------------------------------------------------------------------------------


def test_a_terminal_gets_only_our_codes(captures: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for command in ("info", "check", "triage", "hotspot"):
        screen = Terminal()
        monkeypatch.setattr("sys.stdout", screen)
        assert main([command, str(captures["matmul_small"])]) == 0
        codes = re.findall("\x1b\\[[0-9;]*[a-zA-Z]?", screen.getvalue())
        assert set(codes) <= {"\x1b[1m", "\x1b[0m"}, "the red is the capture's"
        assert codes.count("\x1b[1m") == codes.count("\x1b[0m") > 0
        assert not unseen(screen.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", ""))


def test_progress_shows_names_as_they_are_seen() -> None:
    screen = Terminal()
    with progress(SanitizedStream(screen)) as report:  # type: ignore[arg-type]
        report(Stage("Writing \x1b[31m\u202e", 1, 1))
    assert screen.getvalue() == "\r\x1b[KWriting \\x1b[31m\\u202e 1 of 1\r\x1b[K"


# -- files ------------------------------------------------------------------------------------------


def test_no_written_file_steers_anything(captures: dict[str, Path], tmp_path: Path) -> None:
    folder = captures["matmul_small"]
    for words in (
        ("report", "--out", "r.html"),
        ("report", "--out", "r.md"),
        ("export", "--to", "speedscope", "--out", "s.speedscope.json"),
        ("export", "--to", "csv", "--out", "tables"),
        ("shot", "--panel", "isa", "--out", "isa.svg"),
        ("shot", "--panel", "isa", "--out", "isa.csv"),
    ):
        done = run(words[0], str(folder), *words[1:-1], str(tmp_path / words[-1]))
        assert done.code == 0, done.err
        assert not unseen(done.out + done.err)
    for form in ("json", "csv", "markdown", "html"):
        name = tmp_path / f"index.{form}"
        assert run("index", str(folder.parent), f"--{form}", "--out", str(name)).code == 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 12
    for path in files:
        text = path.read_text("utf-8")
        assert not unseen(text), path.name
        if path.suffix == ".csv":
            assert not [cell for row in csv.reader(io.StringIO(text)) for cell in row if is_formula(cell)]
        if path.suffix in (".html", ".svg"):
            check_html(text)
        if path.suffix in (".md", ".markdown"):
            check_html(rendered(text))
            assert "<img src=" in text_of(rendered(text)), "it is shown"


# -- Markdown, read by the reader of GitHub ---------------------------------------------------------


def rendered(text: str) -> str:
    """A page of Markdown as GitHub's reader understands it, with all its extensions and raw HTML."""
    return cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)


class Reader(HTMLParser):
    """Tags, links and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loads: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loads += [
            value or "" for name, value in attrs if name in ("href", "src") or name.startswith("on")
        ]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def text_of(page: str) -> str:
    return "".join(Reader(page).text)


def check_html(page: str) -> None:
    """Fail if a text of a capture has become a picture, a link, or any other element."""
    found = Reader(page)
    assert not found.tags & {"img", "iframe", "object", "s", "u", "del"}, found.tags
    assert not [one for one in found.loads if not one.startswith(("#", "./"))], found.loads[:5]


@pytest.mark.parametrize(
    "words", [("triage", "--markdown"), ("triage", "--markdown", "--top", "0"), ("index", "--markdown")]
)
def test_markdown_opens_nothing(words: tuple[str, ...], captures: dict[str, Path]) -> None:
    folder = captures["matmul_small"]
    done = run(words[0], str(folder.parent if words[0] == "index" else folder), *words[1:])
    assert done.code == 0
    check_html(rendered(done.out))


def test_the_markdown_of_a_comparison_opens_nothing(captures: dict[str, Path], tmp_path: Path) -> None:
    other = hostile(tmp_path, "matmul_small", tmp_path / "p.png")
    for by in ("instruction", "source", "block", "class"):
        done = run(
            "compare", str(captures["matmul_small"]), str(other), "--by", by, "--markdown", "--top", "0"
        )
        assert done.code in (0, 3), done.err
        check_html(rendered(done.out))


NASTY = st.text(
    st.sampled_from("\\`*_{}[]<>#|~&$!-+=:.)(1 ax/@\n\t\"'") | st.characters(exclude_categories=["Cs"])
)


def flat(text: str) -> str:
    return visible(re.sub(r"[\n\t]+", " ", text).strip())


def spaces(text: str) -> str:
    return " ".join(text.split())


@given(NASTY)
def test_text_in_markdown_shows_just_itself(text: str) -> None:
    for frame in ("{}", "# {}", "- {}", "> {}", "**b**\n{}", "| h |\n|---|\n| {} |"):
        page = rendered(frame.format(md_text(text)))
        check_html(page)
        shown = text_of(page).replace("\n", " ")
        assert spaces(flat(text)) in spaces(shown), (frame, page)


@given(NASTY)
def test_code_in_markdown_shows_just_itself(text: str) -> None:
    for frame, in_table in (("x {} y", False), ("| h |\n|---|\n| {} |", True)):
        page = rendered(frame.format(md_code(text, in_table)))
        check_html(page)
        assert spaces(flat(text)) in spaces(text_of(page).replace("\n", " ")), (frame, page)


@given(NASTY)
def test_text_in_tags_shows_just_itself(text: str) -> None:
    page = rendered(f"<details>\n<summary>{md_in_tags(text)}</summary>\n\n</details>")
    check_html(page)
    assert spaces(flat(text)) in spaces(text_of(page))


@pytest.mark.parametrize(
    "text",
    ["www.evil.example", "https://evil.example", "a@evil.example", "mailto:a@evil.example", "<http://e.x>",
     "[a]: http://e.x", "![i](http://e.x/i.png)", "a\\|b", "`a`|`b`", "~~~", "===", "1. x", "- x", "<!--",
     "&amp;", "@user"],
)  # fmt: skip
def test_known_ways_to_open_something(text: str) -> None:
    test_text_in_markdown_shows_just_itself.hypothesis.inner_test(text)  # type: ignore[attr-defined]
    test_code_in_markdown_shows_just_itself.hypothesis.inner_test(text)  # type: ignore[attr-defined]


def test_the_checks_find_what_they_look_for() -> None:
    evil = markup(Path("/p.png"))
    for page in (evil, rendered("![i](http://e.x)"), rendered("www.evil.example"), rendered("~~x~~")):
        with pytest.raises(AssertionError):
            check_html(page)
    assert unseen(FOLDER)
    assert is_formula("=1+1")
    assert not is_formula("-12.5 %")
