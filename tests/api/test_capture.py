"""Opening, choosing waves, the budget of memory, and damaged captures."""

import json
import pickle
import re
import shutil
import sys
from inspect import signature
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import rcv_py
from rcv_py import api
from rcv_py.analysis.compare import costs
from rcv_py.analysis.cost import ranking
from rcv_py.analysis.flame import flame_frames
from rcv_py.analysis.flame.flame_layout import SiblingOrder
from rcv_py.analysis.overview import library
from rcv_py.api import Capture, TooLarge, TraceError, UnequalColumns, UsageError
from rcv_py.api import capture as methods_of
from rcv_py.api import capture_code as code_methods
from rcv_py.api.waves import OF_WAVES, in_order
from rcv_py.export.tables import FORMATS, TABLES
from rcv_py.features.isa import result as isa
from rcv_py.features.loops import result as loops
from rcv_py.formats.open import open_trace
from tests.api.calls import call_all, every_call
from tests.support.fixtures import fixture_of
from tests.support.opened import load_all
from tests.support.programs import finished

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"
SAMPLE = SAMPLES / "matmul_tiled"


capture = fixture_of(rcv_py.open, SAMPLE, scope="module")


def test_import_is_cheap_and_nothing_imports_qt() -> None:
    code = (
        "import sys\n"
        "for name in ('PySide6', 'shiboken6', 'pyqtgraph', 'pygments'): sys.modules[name] = None\n"
        "for name in ('pandas', 'pyarrow', 'matplotlib'): sys.modules[name] = None\n"
        "import rcv_py\n"
        "assert not [name for name in sys.modules if name.startswith(('numpy', 'rcv_py.'))]\n"
        "assert {'open', 'find', 'library', 'Capture'} <= set(dir(rcv_py))\n"
        f"capture = rcv_py.open({str(SAMPLE)!r})\n"
        "capture.triage(), capture.tokens(), capture.hotspot()\n"
        "assert not [name for name in sys.modules if name.startswith('rcv_py.ui')]\n"
        "import rcv_py.cli.main\n"
    )
    done = finished([sys.executable, "-c", code])
    assert (done.returncode, done.stderr) == (0, "")
    lazy = "import sys, rcv_py.cli.main; assert not [n for n in sys.modules if n.startswith('rcv_py.api')]"
    finished([sys.executable, "-c", lazy], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rcv_py.nothing  # noqa: B018


def test_waves_are_read_once_and_only_when_needed(capture: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    one, tokens = rcv_py.open(SAMPLE), len(capture.tokens())
    read: list[int] = []
    reader = type(one.trace.reader)
    original = reader.columns
    monkeypatch.setattr(reader, "columns", lambda self, rows: read.extend(rows) or original(self, rows))
    assert len(one.waves) == 64
    one.hotspot(), one.info(), one.code, one.occupancy, one.events
    assert read == []
    assert len(one.tokens("se0/simd0/slot0/wv1")) == 1347
    assert read == [1]
    assert len(one.tokens()) == tokens
    assert sorted(read) == list(range(64))
    one.causes(), one.loops(), one.states(), one.triage(), one.tokens([3, 1])
    assert len(read) == 64
    assert one.tokens() is one.tokens()


def test_every_way_to_choose_waves_means_the_same(capture: Capture) -> None:
    names = ["se1/simd2/slot0/wv1", "se0/simd1/slot0/wv1"]
    rows = [capture.trace.waves.row(type(capture.wave(name).id).parse(name)) for name in names]
    mask = np.isin(capture.waves["wave"], names)
    ways = [names, rows, mask, capture.waves.where(wave=names), [capture.wave(name).id for name in names]]
    ways.append(capture.tokens(names))
    for way in ways:
        found = capture.tokens(way)
        assert found["wave"].tolist() == capture.tokens().where(wave=names)["wave"].tolist()
        assert len(set(found["wave"])) == 2
    single = capture.tokens(rows[0])
    assert single["start"].tolist() == capture.wave(names[0]).tokens["start"].tolist()


def test_one_wave_has_its_tables(capture: Capture) -> None:
    wave = capture.wave("se1/simd2/slot0/wv1")
    for name in ("tokens", "states", "waits"):
        table = getattr(wave, name)
        assert table.to_dict() == getattr(capture, name)(wave.id).to_dict()
        assert table is getattr(wave, name)
    row = capture.waves[wave.row]
    assert (row["wave"], row["cu"], row["start"], row["end"]) == (str(wave.id), wave.cu, wave.begin, wave.end)
    assert (wave.workgroup, wave.cluster) == (wave.record.workgroup, wave.record.cluster)
    assert repr(wave) == f"<Wave se1/simd2/slot0/wv1: {len(wave.tokens):,} instructions>"


def test_the_types_of_choices_are_what_is_known() -> None:
    known = {
        ("hotspot", "by"): ranking.BY,
        ("hotspot", "sort"): ranking.SUMS,
        ("isa", "kind"): isa.LISTED,
        ("flame", "content"): flame_frames.CONTENTS,
        ("flame", "metric"): tuple(flame_frames.METRICS),
        ("flame", "order"): tuple(order.value for order in SiblingOrder),
        ("causes", "by"): code_methods.CAUSES_BY,
        ("loops", "show"): tuple(loops.TABLES),
        ("hidden_latency", "rule"): code_methods.RULES,
        ("memory_latency", "rule"): code_methods.RULES,
        ("occupancy_numbers", "by"): methods_of.OCCUPANCY_BY,
        ("occupancy_curves", "by"): methods_of.OCCUPANCY_BY,
        ("compare", "by"): methods_of.COMPARED,
        ("compare", "measure"): costs.MEASURES,
        ("export", "to"): ("perfetto", "speedscope", *FORMATS),
        ("export", "table"): (*TABLES, ""),
        ("parts", "name"): OF_WAVES,
    }
    methods = {method: get_type_hints(getattr(Capture, method)) for method, _ in known}
    assert {key: words(methods[key[0]][key[1]]) for key in known} == known
    choices = {(m, word) for m, hints in methods.items() for word, hint in hints.items() if words(hint)}
    assert choices == set(known)
    assert words(get_type_hints(rcv_py.library)["sort"]) == tuple(library.ORDERS)


def words(hint: object) -> tuple[str, ...]:
    """What a `Literal`, or several of them, stand for."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(word for part in get_args(hint) if get_origin(part) is Literal for word in get_args(part))


def test_all_of_the_api_is_at_hand_from_the_package() -> None:
    assert set(api.__all__) == set(rcv_py._API) <= set(dir(rcv_py))
    assert all(getattr(rcv_py, name) is getattr(api, name) for name in api.__all__)
    page = (ROOT / "docs" / "api-reference.md").read_text() + (ROOT / "docs" / "api.md").read_text()
    errors = set(re.findall(r"\b[A-Z]\w*(?:Error|Missing\w+|TooLarge|NoColumn)\b", page))
    assert "ExportError" in errors
    assert errors - {"KeyError", "ImportError", "IndexError"} <= set(api.__all__)


def test_waves_that_do_not_exist_are_named(capture: Capture) -> None:
    with pytest.raises(UsageError, match="no wave se9/simd0/slot0/wv0"):
        capture.tokens("se9/simd0/slot0/wv0")
    with pytest.raises(UsageError, match="does not name a wave"):
        capture.tokens("first")
    with pytest.raises(UsageError, match="no wave number 64"):
        capture.wave(64)
    with pytest.raises(UnequalColumns):
        capture.tokens(np.ones(3, dtype=bool))


def test_words_that_are_not_known_are_refused(capture: Capture) -> None:
    for make in (
        lambda: capture.hotspot("lines"),
        lambda: capture.hotspot(sort="cost"),
        lambda: capture.loops("all"),
        lambda: capture.isa("rows"),
        lambda: capture.flame(metric="cycles"),
        lambda: capture.export("x", "json"),
        lambda: list(capture.parts("code")),
        lambda: capture.compare(capture, "kind"),
    ):
        with pytest.raises(UsageError) as caught:
            make()
        assert caught.value.hint.startswith("There are: ")
    with pytest.raises(UsageError, match="no instruction 100000"):
        capture.line(100_000)


def test_tokens_follow_the_index_whatever_was_read_first() -> None:
    one = rcv_py.open(SAMPLE)
    one.tokens([40])
    one.tokens([7, 9])
    names = list(dict.fromkeys(one.tokens()["wave"].tolist()))
    assert names == one.waves["wave"].tolist()
    trace = open_trace(SAMPLE)
    plain = {wave.row: wave for batch in load_all(trace) for wave in batch.waves}
    tokens = one.tokens()
    assert tokens["start"].tolist() == [s for row in range(64) for s in plain[row].tokens.start.tolist()]
    assert [wave.row for batch in in_order(one.batches()) for wave in batch.waves] == list(range(64))


def test_a_small_budget_reads_again_and_refuses_a_whole_table(capture: Capture) -> None:
    small = rcv_py.open(SAMPLE, memory_gb=0.0003)
    with pytest.raises(TooLarge, match=r"tokens would take more than the 300\.0 KB") as caught:
        small.tokens()
    assert 'parts("tokens")' in caught.value.hint
    stall = sum(int(part["stall"].sum()) for part in small.parts("tokens"))
    assert stall == int(capture.tokens()["stall"].sum()) == small.causes().facts["stall"]
    assert small.causes("each").to_dict() == capture.causes("each").to_dict()
    assert sum(batch.nbytes for batch in small._cache._held) <= 300_000
    assert sum(len(batch.waves) for batch in small.batches()) == 64


def test_a_capture_with_a_lost_wave_answers_and_says_so(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SAMPLE, tmp_path / "lost"))
    (folder / "se0_sm0_sl0_wv1.json").write_text('{"wave": {"instructions": [[1, 2')
    capture = rcv_py.open(folder)
    before = len(capture.problems)
    assert len(set(capture.tokens()["wave"])) == 63
    lost = capture.problems.where(where="se0/simd0/slot0/wv1")
    assert len(capture.problems) == before + 1
    assert "se0_sm0_sl0_wv1.json" in lost.row(0)["text"]
    with pytest.raises(UsageError, match="se0/simd0/slot0/wv1 could not be read"):
        capture.wave(1)
    assert not call_all(capture)


def test_what_is_no_capture_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught:
        rcv_py.open(tmp_path)
    assert str(caught.value).endswith(".")
    assert caught.value.hint
    (tmp_path / "filenames.json").write_text("{")
    (tmp_path / "code.json").write_text("{")
    with pytest.raises(TraceError):
        rcv_py.open(tmp_path)


def test_find_gives_what_open_takes() -> None:
    entries = rcv_py.find(SAMPLES)
    assert [entry.name for entry in entries] == ["matmul_tiled", "pc_sampling", "placeholder", "raw_rms_norm"]
    assert (
        [len(rcv_py.open(entry).waves) for entry in entries]
        == [entry.waves for entry in entries]
        == [64, 0, 0, 32]
    )


def test_every_answer_is_a_table_whose_columns_are_explained(capture: Capture) -> None:
    for name in ("matmul_tiled", "pc_sampling", "placeholder", "raw_rms_norm"):
        one = rcv_py.open(SAMPLES / name)
        for call, table in every_call(one):
            unknown = [column for column, meaning in table.meanings.items() if not meaning.text]
            assert not unknown, call
            assert table.help["column"].tolist() == list(table.columns)
            assert len(table._repr_html_()) > 0
            assert repr(table)


def test_exported_tables_hold_no_waves_and_are_the_same_whatever_is_held(tmp_path: Path) -> None:
    one = rcv_py.open(SAMPLES / "matmul_tiled")
    pages = [one.export(tmp_path / "a.csv", "csv", table="tokens").read_bytes()]
    assert not one._cache.held
    for chosen in ([5, 3], None):  # some are there, in another order, and then all
        list(one.batches(chosen))
        pages.append(one.export(tmp_path / "b.csv", "csv", table="tokens").read_bytes())
    assert pages[0].count(b"\n") > 10_000
    assert pages[0] == pages[1] == pages[2]


def test_a_capture_is_packed_and_unpacked(capture: Capture, tmp_path: Path) -> None:
    file = capture.pack(tmp_path / "it.rcvz", sources=False)
    again = rcv_py.open(file)
    assert [*again.hotspot().rows()] == [*capture.hotspot().rows()]
    assert {source.lines for source in again.trace.sources} == {None}
    folder = again.unpack(tmp_path / "folder")
    assert again.causes().facts == rcv_py.open(folder).causes().facts
    with pytest.raises(UsageError, match="is there already"):
        again.unpack(folder)
    with pytest.raises(UsageError, match=r"must end in \.rcvz or \.zip"):
        capture.pack(tmp_path / "it.bin")


def test_reports_and_exports_are_written(capture: Capture, tmp_path: Path) -> None:
    page = capture.report(tmp_path / "page.md").read_text()
    assert page.startswith("# ")
    wave = capture.export(tmp_path / "one.json", "speedscope", waves="se0/simd0/slot0/wv1")
    profiles = json.loads(wave.read_text())["profiles"]
    assert sum(profile["type"] == "evented" for profile in profiles) == 1
    table = capture.export(tmp_path / "tokens.csv", "csv", table="tokens", waves=[1])
    assert len(table.read_text().splitlines()) == 1 + 1347
    assert capture.export(tmp_path / "trace.pftrace", "perfetto", waves=[1]).stat().st_size > 10_000
    with pytest.raises(UsageError, match="is a folder"):
        capture.export(tmp_path, "csv", table="tokens")


def test_a_critical_path_takes_the_changes_that_whatif_takes(capture: Capture) -> None:
    assert signature(Capture.critical_path).parameters.keys() == signature(Capture.whatif).parameters.keys()
    with pytest.raises(UsageError):
        capture.critical_path(only=[(0, 1)])


def test_answers_of_every_analysis_can_be_stored_and_handed_to_arrow(capture: Capture) -> None:
    # Declarations of columns hold functions that cannot be pickled, and results may hold such tables.
    pytest.importorskip("pyarrow")
    compiled = rcv_py.open(SAMPLES / "compiled_rms_norm" / "rms_norm_gfx942.co")
    for name, one in (*every_call(capture), *every_call(compiled)):
        again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(one))))
        assert again.columns == one.columns, name
        assert again.help.to_dict() == one.help.to_dict(), name
        for column in one:
            np.testing.assert_array_equal(again[column], one[column], name)
        table = one.to_arrow()
        assert table.num_rows == len(one), name
        for other in (one[:0], again):
            assert other.to_arrow().schema.equals(table.schema, check_metadata=True), name


def test_a_result_table_can_be_stored(capture: Capture) -> None:
    table = capture.isa().result.table
    again = pickle.loads(pickle.dumps(table))
    assert list(again.columns) == list(table.columns)
    for name in ("hits", "latency", "text"):
        assert again.plain(name) == table.plain(name)
