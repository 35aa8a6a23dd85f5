"""What is not Python comes along with a package that is built."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.programs import finished

ASKED = (
    "from rcv_py.base.colors import ROLES\n"
    "from rcv_py.base.resources import find, resource, samples\n"
    "print(resource('fonts/JetBrainsMono-Regular.ttf'), *samples(), find('docs/tutorial.md'),\n"
    "      find('packaging/skill/rcv/SKILL.md'), ROLES['base'].light, sep='\\n')\n"
)


def test_a_package_has_its_fonts_and_samples_inside(tmp_path: Path) -> None:
    built = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True, timeout=HANG_S)
    asked = finished(
        [sys.executable, "-c", ASKED],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    inside = tmp_path / "rcv_py" / "bundled"
    expected = [inside / "resources" / "fonts" / "JetBrainsMono-Regular.ttf"]
    expected += [
        inside / "sample_traces" / name
        for name in ("compiled_rms_norm", "matmul_tiled", "pc_sampling", "placeholder", "raw_rms_norm")
    ]
    expected += [inside / "docs" / "tutorial.md", inside / "packaging" / "skill" / "rcv" / "SKILL.md"]
    assert asked.stdout.split() == [*map(str, expected), "#ffffff"]
