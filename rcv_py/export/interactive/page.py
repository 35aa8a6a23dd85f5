"""The page: constant markup, its style and scripts, and its contents in Base64.

Its policy names the scripts and styles by their hashes and allows nothing else, no network above all; text of
a capture becomes text of the page by `textContent` alone.
"""

import json
import re
from base64 import b64encode
from functools import partial
from hashlib import sha256
from html import escape
from pathlib import Path

from rcv_py import __version__
from rcv_py.base.colors import ROLES, TOKEN_KINDS, Pair
from rcv_py.base.progress import Report, silent
from rcv_py.base.text import short_kernel, spoken_language, translated, visible
from rcv_py.export.interactive.content import content
from rcv_py.export.interactive.packed import packed
from rcv_py.export.report.inputs import ReportInputs

MAX_TOKENS = 1_500_000  # about a byte each where waves do the same, several at worst
MAX_LETTERS = 6_000_000  # of Base64
MIN_TOKENS = 1_000  # below that other things fill the page
SAY = re.compile(r'say\(("(?:[^"\\]|\\.)*")\)')
MARKUP_TEXT = re.compile(
    r'(?<=>)[^<>\n]*[A-Za-z]{2}[^<>\n]*(?=<)|(?<=title=")[^"]+|(?<=aria-label=")[^"]+|(?<=placeholder=")[^"]+'
)
_HEADINGS = re.compile(r"const (?:title of|measures = isSampled\(\) \?) (\[.*)")  # lists of names
_HERE = Path(__file__).parent
_ROLES = (
    "window", "base", "alternate", "raised", "line", "text", "muted", "accent", "accent_soft", "hover",
    "canvas", "grid", "warning", "error", "stall", "issue", "idle",
)  # fmt: skip


def interactive_page(inputs: ReportInputs, *, report: Report = silent) -> bytes:
    """Return the page about a capture: of bounded size, without external resources.  Raises Cancelled."""
    data = _data(inputs, report)
    trace = inputs.trace
    title = visible(short_kernel(trace.kernel_name) if trace.kernel_name else trace.name)
    scripts = [_file("logic.js"), _script("page.js")]
    sheet = f"{_colors()}\n{_file('page.css')}"
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src {' '.join(map(_hash, scripts))}; style-src {_hash(sheet)}"
    )
    lang = spoken_language().replace("_", "-")
    head = (
        f'<!DOCTYPE html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta name="generator" content="rcv {escape(__version__)}">'
        f"<title>{escape(title)}</title>\n<style>{sheet}</style></head>\n"
    )
    held = f'<script type="application/octet-stream" id="data">{data}</script>\n'
    body = "".join(f"<script>{script}</script>\n" for script in scripts)
    markup = MARKUP_TEXT.sub(lambda found: escape(translated(found[0])), _file("page.html"))
    return f"{head}<body>\n{markup}{held}{body}</body></html>\n".encode()


def _data(inputs: ReportInputs, report: Report) -> str:
    """The contents of the page, with as many instructions as there is room for."""
    tokens = MAX_TOKENS
    while True:
        data = packed(*content(inputs, tokens, report=report))
        if len(data) <= MAX_LETTERS or tokens < MIN_TOKENS:
            return data
        tokens //= 4  # they hardly repeat themselves


def _file(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _script(name: str) -> str:
    """A script in the selected language: `say("text")` and `heading(name)` become their texts."""
    say = partial(json.dumps, ensure_ascii=False)
    script = SAY.sub(lambda found: say(translated(json.loads(found[1]))), _file(name))
    names = {name: translated(name) for name in headings(script) if translated(name) != name}
    return script.replace("heading(title)", f"({say(names)}[title] || title)" if names else "title")


def headings(script: str) -> set[str]:
    """Return the names of columns that a script uses as headings."""
    return {name for listed in _HEADINGS.findall(script) for name in re.findall(r'"([a-z]+)"', listed)}


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _colors() -> str:
    """Colours as variables of the page, with the dark theme for users who prefer it."""
    pairs: dict[str, Pair] = {name: ROLES[name] for name in _ROLES}
    pairs |= {f"kind-{name}": pair for name, pair in TOKEN_KINDS.items()}
    light = "".join(f"--{name}:{pair.light};" for name, pair in pairs.items())
    dark = "".join(f"--{name}:{pair.dark};" for name, pair in pairs.items())
    return f":root{{{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}"
