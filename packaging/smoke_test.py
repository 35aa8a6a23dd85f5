"""Try a built or installed `rcv`: it must start, read a sample and draw it.

Usage: smoke_test.py [--no-window] COMMAND…; with --no-window it must say how to install the window instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLE = Path(__file__).resolve().parents[1] / "sample_traces" / "matmul_tiled"


def run(command: list[str], *arguments: str, code: int = 0) -> str:
    """Run the command; return what it printed; stop if it did not end with this code."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    if done.returncode != code:
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout if not code else done.stderr


def main() -> int:
    """Version, facts and a picture of the sample."""
    has_window = "--no-window" not in sys.argv
    command = [word for word in sys.argv[1:] if word != "--no-window"] or ["rcv"]
    versions = run(command, "--version")
    assert not has_window or "\ndisassembler none" not in versions, versions
    facts = json.loads(run(command, "info", str(SAMPLE), "--json"))
    assert facts, facts
    findings = json.loads(run(command, "triage", str(SAMPLE), "--json"))["findings"]
    assert findings, "the sample has findings"
    if not has_window:
        assert "rcv-py[window]" in run(command, str(SAMPLE), code=2)
        print("rcv starts and reads, and says how to install the window.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "window.png"
        run(command, "shot", str(SAMPLE), "--panel", "window", "--out", str(picture))
        assert picture.stat().st_size > 10_000, "the picture is empty"
    print("rcv starts, reads and draws.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
