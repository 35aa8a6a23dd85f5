"""A packed capture comes from strangers: what is wrong with it is a sentence, and never more than a file."""

import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from rcv_py.base.errors import TraceError
from rcv_py.formats.open import open_trace
from rcv_py.formats.packed import archive
from rcv_py.formats.packed import capture as read
from rcv_py.formats.packed.archive import Unreadable, packed_arrays, unpacked_arrays
from rcv_py.formats.packed.capture import MANIFEST, TRACE, write_packed
from rcv_py.formats.packed.pieces import COLUMNS
from rcv_py.work.load import plan
from tests.support.whole_capture import capture, opened, read_all

Members = dict[str, bytes]
Change = Callable[[np.ndarray], np.ndarray]
PIECE = "waves/0.columns"
DEFLATED = zipfile.ZIP_DEFLATED


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    """The members of a packed capture that is whole."""
    folder = tmp_path_factory.mktemp("whole")
    trace = opened(folder / "capture", capture())
    write_packed(folder / "it.rcvz", trace, map(trace.reader.columns, plan(trace.waves)))
    with zipfile.ZipFile(folder / "it.rcvz") as whole:
        return {name: whole.read(name) for name in whole.namelist()}


def write(path: Path, members: Members, **more: bytes) -> Path:
    """Write an archive of these members."""
    with zipfile.ZipFile(path, "w", DEFLATED) as made:
        for name, data in (members | more).items():
            made.writestr(name, data)
    return path


def complaint(path: Path) -> str:
    """What is said of an archive that cannot be opened: a sentence, with what to do."""
    with pytest.raises(TraceError) as caught:
        open_trace(path)
    assert str(caught.value).endswith(".")
    assert str(caught.value).count(". ") == 0
    assert caught.value.hint.endswith(".")
    return str(caught.value)


OUTSIDE = (
    *("../x.json", "/etc/passwd", "..\\x.json", "C:\\x.json", "waves/../x.json", "a\0.json"),
    *("A.JSON", ""),
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_leads_elsewhere_is_refused(name: str, members: Members, tmp_path: Path) -> None:
    with zipfile.ZipFile(path := tmp_path / "it.rcvz", "w") as made:
        for one, data in members.items():
            made.writestr(one, data)
        info = zipfile.ZipInfo("x")
        info.filename = name
        made.writestr(info, b"{}")
    assert "a member has a name that no writer gives" in complaint(path)
    assert [child.name for child in tmp_path.iterdir()] == ["it.rcvz"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(members: Members, tmp_path: Path) -> None:
    path = write(tmp_path / "it.rcvz", members)
    with zipfile.ZipFile(path, "a") as made:
        made.writestr(PIECE, b"")
    assert "two members of the name" in complaint(path)


def test_a_bomb_is_never_unpacked(members: Members, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "FREE_BYTES", 1 << 16)
    path = write(tmp_path / "it.rcvz", members | {"bomb.json": bytes(1 << 20)})
    assert "claims 1,048,576 bytes, more than are accepted" in complaint(path)


def test_a_member_is_unpacked_no_further_than_it_claims(members: Members, tmp_path: Path) -> None:
    path = write(tmp_path / "it.rcvz", members | {TRACE: bytes(10 << 20)})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as whole:
        about = whole.getinfo(TRACE)
    at = data.rindex(struct.pack("<LLL", about.CRC, about.compress_size, about.file_size))
    data[at + 8 : at + 12] = struct.pack("<L", 1000)  # in the directory, which is what is believed
    path.write_bytes(data)
    unpacked: list[int] = []
    plain = zlib.decompressobj

    class Noted:
        """Unpacks, and notes how much came out."""

        def __init__(self, bits: int) -> None:
            self._plain = plain(bits)

        def decompress(self, data: Any, most: int) -> bytes:
            found = self._plain.decompress(data, most)
            unpacked.append(len(found))
            return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive.zlib, "decompressobj", Noted)
        assert "is not what was packed" in complaint(path)
    assert max(unpacked) <= max(1001, *map(len, members.values()))


@pytest.mark.parametrize("text", [b"[" * 5000, b'{"a": ' + b"{}," * 5000])
def test_crowded_json_is_refused_before_it_is_read(
    text: bytes, members: Members, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "JSON_RECORDS", 2000)
    assert "larger than in any capture" in complaint(write(tmp_path / "it.rcvz", members | {TRACE: text}))


def test_whatever_is_cut_off_or_changed_is_a_sentence(members: Members, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.rcvz", members).read_bytes()
    path = tmp_path / "it.rcvz"
    for size in (0, 1, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        complaint(path)
    path.write_bytes(whole.replace(b"PK\3\4", b"PK\3\5"))
    assert "cannot be read" in complaint(path)


def changed_json(name: str, **changes: Any) -> Callable[[Members], Members]:
    """A member of JSON with other values."""
    return lambda members: {name: orjson.dumps(orjson.loads(members[name]) | changes)}


UNUSABLE: dict[str, tuple[Callable[[Members], Members], str]] = {
    "no manifest": (lambda _: {MANIFEST: b"[]"}, "its manifest.json is not a table"),
    "no JSON": (lambda _: {TRACE: b"{"}, "trace.json is damaged"),
    "a newer format": (changed_json(MANIFEST, format=2), "its format is 2"),
    "too few columns": (changed_json(MANIFEST, columns=1), "something follows"),
    "too many columns": (changed_json(MANIFEST, columns=1000), "an array is missing"),
    "a table of another kind": (changed_json(TRACE, code=[]), "its table CodeTable is none"),
    "a word for a number": (changed_json(TRACE, gfxip="9"), "of another kind"),
    "true for a number": (changed_json(TRACE, gfxip=True), "of another kind"),
    "a column that is not there": (changed_json(TRACE, occupancy={"time": 999}), "of another kind"),
    "a table without columns": (changed_json(TRACE, occupancy={}), "WaveEvents lacks something"),
    "deep": (changed_json(TRACE, marker_layout=[[[[1]]]]), "of another kind"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_tables_that_cannot_be_used_are_a_sentence(what: str, members: Members, tmp_path: Path) -> None:
    change, words = UNUSABLE[what]
    assert words in complaint(write(tmp_path / "it.rcvz", members | change(members)))


def changed_table(
    table: str, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> Callable[[Members], Members]:
    """The columns of all tables with another one."""

    def changed(members: Members) -> Members:
        columns = unpacked_arrays(
            memoryview(members["tables.columns"]), orjson.loads(members[MANIFEST])["columns"]
        )
        at = orjson.loads(members[TRACE])[table][name]
        columns[at] = change(columns[at].copy())
        return {"tables.columns": packed_arrays(columns)}

    return changed


def with_last(number: int) -> Change:
    """Another last number."""
    return lambda column: np.append(column[:-1], column.dtype.type(number))


CROOKED = {
    "a wave that lives backwards": changed_table("waves", "end", with_last(0)),
    "waves that are not in order": changed_table("waves", "wid", with_last(0)),
    "a time beyond all": changed_table("waves", "end", with_last(1 << 62)),
    "too few rows": changed_table("waves", "cu", lambda column: column[1:]),
    "another type": changed_table("waves", "se", lambda column: column.astype(np.int64)),
    "a source that is not there": changed_table("code", "chain_file", with_last(7)),
    "a kernel that is not there": changed_table("code", "kernel", with_last(7)),
    "places of nobody": changed_table("code", "chain_first", with_last(99)),
    "events out of order": changed_table("occupancy", "time", with_last(-5)),
    "a table for a column": changed_table("occupancy", "time", lambda column: column.reshape(-1, 1)),
}


@pytest.mark.parametrize("what", CROOKED)
def test_contradicting_columns_are_a_sentence(what: str, members: Members, tmp_path: Path) -> None:
    complaint(write(tmp_path / "it.rcvz", members | CROOKED[what](members)))


def test_a_file_name_that_leads_out_is_refused(members: Members, tmp_path: Path) -> None:
    said = orjson.loads(members[TRACE])
    said["waves"]["file"][0] = "../../x.json"
    path = write(tmp_path / "it.rcvz", members | {TRACE: orjson.dumps(said)})
    assert "names files outside of itself" in complaint(path)


def piece(members: Members, name: str, change: Change) -> Members:
    """The waves with another column."""
    columns = dict(zip(COLUMNS, unpacked_arrays(memoryview(members[PIECE]), len(COLUMNS)), strict=True))
    columns[name] = change(columns[name].copy())
    return {PIECE: packed_arrays(list(columns.values()))}


WRONG: dict[str, tuple[str, Change]] = {
    "a line that is not there": ("line", with_last(99)),
    "a producer that is not there": ("depends_on", with_last(99)),
    "a negative stall": ("stall", lambda column: np.full(len(column), -1, np.int8)),
    "starts that go back": ("offset", lambda column: np.full(len(column), -1, np.int8)),
    "too few kinds": ("kind", lambda column: column[1:]),
    "tokens of nobody": ("token_first", with_last(1)),
    "borders that go back": ("token_first", lambda column: np.array([0, 255, 0, 0, 24], np.uint8)),
    "too few waves": ("facts", lambda column: column[1:]),
    "other waves": ("facts", lambda column: column[::-1]),
    "no waves": ("facts", lambda column: column[:0]),
    "facts without a table": ("facts", lambda column: column[0]),
    "states that last longer than all": ("state_offset", lambda column: column + 100),
    "waits of other waves": ("wait_first", lambda column: column[1:]),
    "producers of nobody": ("wait_first", with_last(0)),
    "real numbers": ("offset", lambda column: column.astype(np.float64)),
    "numbers too large for any": ("wait_line", lambda column: column.astype(np.int64) + (1 << 40)),
}


@pytest.mark.parametrize("what", WRONG)
def test_impossible_waves_are_missing_others_not(what: str, members: Members, tmp_path: Path) -> None:
    trace = open_trace(write(tmp_path / "it.rcvz", members | piece(members, *WRONG[what])))
    batch = read_all(trace)
    assert len(batch.missing) == len(trace.waves) == 4
    for _, text in batch.missing:
        assert text.startswith(f"{PIECE} of it.rcvz is damaged: ")
        assert text.endswith(".")
    assert len(trace.code) == 8


def test_a_piece_that_is_not_there_costs_its_waves(members: Members, tmp_path: Path) -> None:
    trace = open_trace(
        write(tmp_path / "it.rcvz", {name: members[name] for name in members if name != PIECE})
    )
    assert [row for row, _ in read_all(trace).missing] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "head",
    [
        b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        b"{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }",
        b"{'descr': '<i8', 'fortran_order': True, 'shape': (1,), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (999999999999,), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (999999999, 999999999), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (0, 999999999), }",
        b"{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,), }",
        b"__import__('os').system('false')",
    ],
)
def test_arrays_of_other_kinds_are_refused(head: bytes) -> None:
    text = head + b" " * (117 - len(head)) + b"\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)
    with pytest.raises(Unreadable):
        unpacked_arrays(memoryview(data), 1)
