"""A script of the user's may read waves in processes without knowing about it."""

import subprocess
import sys
from pathlib import Path

from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.samples import sample_path

SCRIPT = """
import sys
from pathlib import Path
from rcv_py.formats.open import open_trace
from rcv_py.work import load
from rcv_py.work.load import batches

load.IN_PROCESS_BYTES = 0
trace = open_trace(Path(sys.argv[1]))
print("read", sum(len(batch.waves) for batch in batches(trace, workers=2)), "of", len(trace.waves))
"""


def test_a_script_without_a_main_guard_reads_its_waves_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), str(sample_path("straggler"))],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("read 16 of 16\n", "")
