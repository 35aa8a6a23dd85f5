"""Where AMD's decoder is looked for, and how its records are laid out; test_official.py has a stand-in."""

import subprocess
import sys

import pytest

from rcv_py.formats.raw import official
from rcv_py.formats.raw.official_records import LAYOUT, LEADING, STATE, TOKEN
from rcv_py.formats.raw.options import OfficialMissing
from tests.support.limits import HANG_S
from tests.support.paths import ROOT


def test_the_process_of_a_library_imports_no_compiler() -> None:
    """It compiles nothing, and each shader engine has one: a quarter of a second."""
    program = (
        "import sys, rcv_py.formats.raw.official, rcv_py.formats.raw.objects, rcv_py.formats.input.files;"
        "assert 'numpy' in sys.modules; assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=HANG_S)


def test_the_library_is_looked_for_where_tools_of_amd_look(monkeypatch, tmp_path) -> None:
    for name in (*official.VARIABLES, "LD_LIBRARY_PATH", "ROCM_HOME", "ROCM_PATH"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OfficialMissing) as caught:
        official.library_path()
    assert official.VARIABLES[0] in caught.value.hint
    places = [tmp_path / name for name in ("rocm/lib", "loader", "named")]
    for place in places:
        place.mkdir(parents=True)
        (place / f"{official.LIBRARY}.0.2").write_bytes(b"")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    assert official.library_path() == str(places[0] / f"{official.LIBRARY}.0.2")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{places[1]}")
    assert official.library_path() == str(places[1] / f"{official.LIBRARY}.0.2")
    monkeypatch.setenv(official.VARIABLES[0], str(places[2] / f"{official.LIBRARY}.0.2"))
    assert official.library_path() == str(places[2] / f"{official.LIBRARY}.0.2")
    with pytest.raises(OfficialMissing, match="is not a decoder library"):
        official.library_path(str(tmp_path))


def test_layouts_are_those_of_the_interface() -> None:
    sizes = {kind: dtype.itemsize for kind, dtype in LAYOUT.items()}
    assert sizes == {1: 32, 2: 24, 3: 64, 5: 40, 6: 24, 7: 24, 9: 24, 10: 80}
    assert {kind: dtype.itemsize for kind, dtype in LEADING.items()} == {11: 32, 12: 48}
    assert (TOKEN.itemsize, STATE.itemsize) == (32, 8)
