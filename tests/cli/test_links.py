"""Source places that a terminal opens: links around what is on this machine, and an editor at the line."""

import re
import sys
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.cli.terminal import knows_links, linked
from rcv_py.formats.uiout.local_sources import local_file
from tests.support.command_runs import refused
from tests.support.samples import write_sample

_LINK = re.compile("\x1b]8;;([^\x1b]*)\x1b\\\\")


def test_places_of_files_that_are_here_are_links() -> None:
    here = {"kernel.py": Path("/src/a b/\x1b]kérnel;.py")}
    text = "  12  v_add  kernel.py:186  other.py:3\n(kernel.py:7)  …ernel.py:9  kernel.py:1x"
    made = linked(text, here.get)
    assert _LINK.sub("", made) == text
    targets = _LINK.findall(made)
    assert [one.rpartition("#")[2] for one in targets if one] == ["186", "7"]
    assert targets[1::2] == ["", ""], "each link ends behind its place"
    path = "/src/a%20b/%1B%5Dk%C3%A9rnel%3B.py"
    assert all(one.startswith("file://") and one.endswith(f"{path}#{n}") for one, n in ((targets[0], 186),))


def test_terminals_without_style_get_no_links() -> None:
    assert knows_links({"TERM": "xterm-256color"})
    assert not knows_links({"TERM": "dumb"})
    assert not knows_links({})
    assert not knows_links({"TERM": "xterm", "NO_COLOR": "1"})
    assert not knows_links({"TERM": "xterm", "RCV_LINKS": "0"})


def test_only_plain_source_files_of_this_machine_are_named(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("x")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "secret").write_text("x")
    assert local_file("/build/kernel.py", (("/build", str(tmp_path)),)) == source
    for path in ("secret", "none.py", "folder.py"):
        assert local_file(str(tmp_path / path), ()) is None
    for path in (f"/{source}", "\\\\host\\share\\kernel.py", "kernel.py", f"{tmp_path}/a\0.py"):
        assert local_file(path, ()) is None


def test_the_command_opens_an_editor_at_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = tmp_path / "capture", tmp_path / "said"
    write_sample("vector_add", folder)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "vector.hip").write_text("\n" * 40)
    script = tmp_path / "editor.py"
    script.write_text(f"import sys; open({str(said)!r}, 'w').write(' '.join(sys.argv[1:]))")
    monkeypatch.setattr("rcv_py.base.machine.editors.IN_TERMINAL", frozenset((Path(sys.executable).name,)))
    words = [
        "source",
        str(folder),
        "vector.hip:12",
        "--edit",
        "--editor",
        f"{sys.executable} {script} {{file}} +{{line}}",
    ]
    assert "--source-map" in refused(*words)
    mapped = [f"--source-map={root}={tmp_path}/src" for root in _roots(folder)]
    assert main([*words, *mapped]) == 0
    assert said.read_text() == f"{tmp_path}/src/vector.hip +12"
    assert capsys.readouterr().out == f"{tmp_path}/src/vector.hip:12\n"
    assert main(["source", str(folder), "--edit"]) == 2
    assert main(["source", str(folder), "vector.hip", "--editor", "code"]) == 2


def _roots(folder: Path) -> set[str]:
    import rcv_py

    paths = {source.path for source in rcv_py.open(folder).trace.sources}
    return {path.rpartition("/")[0] for path in paths if path.endswith("vector.hip")}
