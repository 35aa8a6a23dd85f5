"""Record again what every command prints on small samples, the fields of every schema, and a digest of every
sample of the simulator.

Usage: record.py [--check].  --check writes nothing and names what differs.  Run it only when a change of the
output is wanted, and read the difference before committing it: these files prove no number right, they only
show what changed.  Numbers are derived independently in tests/cli/test_numbers.py.
tests/real/golden/record.py does the same for real captures.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from rcv_py.cli.schemas import SCHEMAS  # noqa: E402
from rcv_py.synth.samples import SAMPLES  # noqa: E402
from tests.support.command_runs import GOLDEN_FORMS, ON_A_CAPTURE, in_forms  # noqa: E402
from tests.support.schema_outline import outline  # noqa: E402

FOLDER = Path(__file__).resolve().parent
CLI = FOLDER / "cli"
NAMES = ("matmul_small", "gfx12", "pc_sampling")  # small ones that differ in what is printed of them
LONG_LIST, KEPT = 8, 3  # items of a list from which on it is cut, and what is kept
LONG_TEXT = 60  # lines
PLACEHOLDER = "TRACES"
Files = Iterable[tuple[Path, str]]


def expected(capture: Path, place: Path, without: Path) -> Iterator[tuple[Path, str]]:
    """Yield files in `place` and what they should hold: one text and one document a command.

    Texts name no place on this machine: the folder `without`, in which captures lie, is left out.
    """
    for command, variants in ON_A_CAPTURE.items():
        text, document = _outputs(capture, command, variants[0], without)
        yield place / f"{command}.txt", shortened_text(text)
        if document.startswith("{"):  # else it is refused, and the text is the sentence that says why
            yield place / f"{command}.json", pretty(shortened(json.loads(document)))


def _outputs(capture: Path, command: str, more: str, without: Path) -> list[str]:
    """What is printed in each form, without the place where captures lie."""
    found = []
    for done in in_forms(command, capture, more, GOLDEN_FORMS):
        is_refused = done.code == 2 and not done.out and not any(capture.glob("se*_wv*.json"))
        assert done.code == 0 or is_refused, (capture, command, done.err)
        found.append((done.err if is_refused else done.out).replace(str(without), PLACEHOLDER))
    return found


def of_samples() -> Iterator[tuple[Path, str]]:
    """Yield the files of all samples that are recorded."""
    with TemporaryDirectory() as place:
        for name in NAMES:
            SAMPLES[name].write(Path(place) / name, seed=0)
            yield from expected(Path(place) / name, CLI / name, Path(place))


def shortened_text(text: str) -> str:
    """Keep the first lines, and a digest of the rest."""
    lines = text.splitlines()
    if len(lines) <= LONG_TEXT:
        return text
    kept, rest = lines[: LONG_TEXT // 2], "\n".join(lines[LONG_TEXT // 2 :])
    return "\n".join([*kept, f"[{len(lines) - len(kept)} more lines, {digest(rest)}]", ""])


def shortened(value: Any) -> Any:
    """Keep the first items of long lists, and a digest of the rest."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) <= LONG_LIST:
        return [shortened(item) for item in value]
    rest = json.dumps(value[KEPT:])
    return [*map(shortened, value[:KEPT]), f"[{len(value) - KEPT} more items, {digest(rest)}]"]


def digest(text: str) -> str:
    """A few letters that change with the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def pretty(value: Any) -> str:
    """JSON as people compare it: a line a value."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def schema_outlines() -> tuple[Path, str]:
    """The file of the fields of all schemas, and what it should hold."""
    return FOLDER / "schemas.json", pretty({one.id: outline(one.as_json()) for one in SCHEMAS})


def sample_digests() -> tuple[Path, str]:
    """The file of what each sample is, and what it should hold."""
    digests = {}
    with TemporaryDirectory() as place:
        for name in sorted(SAMPLES):
            SAMPLES[name].write(Path(place) / name, seed=0)
            digests[name] = folder_digest(Path(place) / name)
    return FOLDER / "samples.json", pretty(digests)


def folder_digest(folder: Path) -> str:
    """A text that changes with the name, the length or the bytes of any file of a folder."""
    files = sorted(folder.iterdir())
    told = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def differing(files: Files) -> list[tuple[Path, str]]:
    """Those that are not there, or hold something else."""
    return [pair for pair in files if not pair[0].exists() or pair[0].read_text(encoding="utf-8") != pair[1]]


def record(files: Files, cli: Path) -> int:
    """Write what differs and remove what is not expected below `cli`, or only name it; return a code."""
    files = list(files)
    changed = differing(files)
    lost = set(cli.glob("*/*")) - {path for path, _ in files}
    for path in sorted({path for path, _ in changed} | lost):
        print(path.relative_to(ROOT))
    if "--check" in sys.argv:
        return 1 if changed or lost else 0
    for path, text in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in lost:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(record([schema_outlines(), sample_digests(), *of_samples()], CLI))
