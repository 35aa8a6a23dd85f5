"""The notebook of the docs runs as it stands, and what notebooks show of captures, waves and timelines."""

import ast
import contextlib
import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rcv_py
from rcv_py.model.activity import ACTIVITIES, ACTIVITY_COUNT
from rcv_py.model.kinds import TokenKind
from tests.support.fixtures import fixture_of

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_traces" / "matmul_tiled"


capture = fixture_of(rcv_py.open, SAMPLE, scope="module")


def shown(value: Any) -> str:
    """What a notebook shows of a value: HTML, and no address of an object."""
    html = value._repr_html_()
    assert html.count("<") > 3
    assert " object at 0x" not in html
    return html


def test_the_notebook_runs_and_shows_tables_and_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    notebook = json.loads((ROOT / "docs" / "first-look.ipynb").read_text())
    assert notebook["nbformat"] == 4
    names: dict[str, object] = {}
    seen = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(tree, cell["id"], "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
                seen += value is not None and bool(shown(value))
    assert seen >= 8


def pixels_of(png: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Places in the palette, and the palette, read by the standard of PNG."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    parts, at = {}, 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        body = png[at + 4 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(body)
        parts[body[:4]] = body[4:]
        at += 12 + size
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    return lines[:, 1:], np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3)


def test_a_pixel_has_the_colour_of_what_ran_then(capture: rcv_py.Capture) -> None:
    wave = capture.wave(0)
    tokens = wave.record.tokens
    row = int(np.flatnonzero((tokens.kind == TokenKind.VALU) & (tokens.busy >= 4))[0])
    issue = int(tokens.start[row]) + int(tokens.stall[row])
    picture = capture.timeline(issue, issue + 16, waves=0, width=16, row_height=10)
    assert picture.rows == (f"SE{wave.id.se} SIMD{wave.id.simd} slot {wave.id.slot}",)
    pixels, palette = pixels_of(picture._repr_png_())
    assert (pixels[:8, :4] == ACTIVITIES.index((TokenKind.VALU, False))).all()
    assert (pixels[8:] == ACTIVITY_COUNT).all(), "between rows"
    assert len(palette) == ACTIVITY_COUNT + 1


def test_a_capture_shows_its_first_unit_and_a_theme(capture: rcv_py.Capture, tmp_path: Path) -> None:
    light, dark = (capture.timeline(width=200, theme=theme) for theme in ("light", "dark"))
    assert (light.pixels == dark.pixels).all()
    assert light.palette[-1].min() > 200
    assert dark.palette[-1].max() < 60
    index = capture.trace.waves
    own = (index.se == index.se[0]) & (index.cu == index.cu[0])
    slots = {
        (simd, slot) for simd, slot in zip(index.simd[own].tolist(), index.slot[own].tolist(), strict=True)
    }
    assert len(light.rows) == len(slots)
    html = shown(light)
    assert "data:image/png;base64," in html
    assert "VALU" in html
    assert light.save(tmp_path / "a.png").read_bytes() == light.png
    shown(capture)
    shown(capture.wave(0))
    assert capture.wave(0)._repr_png_().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_is_refused(capture: rcv_py.Capture) -> None:
    for wrong in ({"begin": 5, "end": 5}, {"width": 0}, {"row_height": 10_000}, {"theme": "red"}):
        with pytest.raises(rcv_py.UsageError):
            capture.timeline(**wrong)
    empty = capture.timeline(0, 10, waves=[])
    assert empty.rows == ()
    pixels_of(empty.png)
