"""Stands in for rocprofv3, ssh and scp in tests.

`rocprofv3 -i INPUT -- COMMAND` behaves as the documented one: it reads the input file, runs the command, and
writes a capture under the names that the real one gives; `rocprofv3 --kernel-trace -f FORM -d DIR -o NAME --
COMMAND` writes a database; `rocprofv3 --attach PROCESS … -i INPUT` runs nothing.  What it "records" is told
by RECORDINGS, a list of rules in the environment; the first whose `when` agrees with the input file counts.
A rule has `folder`, which is copied (`file` for a database), and may have `says`, lines to print, `code`, the
exit code without running anything, and `hangs`, if it does not end.

`ssh OPTIONS -- HOST COMMAND` runs a command in a shell here, `scp OPTIONS -- HOST:FOLDER TARGET` copies.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

from tests.support.limits import HANG_S
from tests.support.yaml_subset import jobs

ROOT = Path(__file__).parents[2]


def installed(folder: Path, *names: str) -> Path:
    """Put stand-ins of these names into a folder, and return it."""
    folder.mkdir(exist_ok=True)
    for name in names:
        script = folder / name
        script.write_text(
            f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m tests.support.rocprofv3 {name} "$@"\n'
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


def rocprofv3(words: list[str]) -> int:
    """Run a command and record it."""
    at = words.index("--") if "--" in words else len(words)
    if words[:1] == ["--attach"]:
        print("attached to", *words[1:-1])
        (job,) = jobs(Path(words[-1]).read_text())
    elif words[:2] == ["--kernel-trace", "-f"]:
        given = dict(zip(words[1:at:2], words[2:at:2], strict=True))
        job = {"kernel_trace": given["-f"]}
    else:
        assert at == 2, "usage: rocprofv3 -i INPUT -- COMMAND"
        assert words[0] == "-i"
        (job,) = jobs(Path(words[1]).read_text())
    rule = next(
        one for one in json.loads(os.environ["RECORDINGS"]) if one.get("when", {}).items() <= job.items()
    )
    print(*rule.get("says", []), sep="\n", file=sys.stderr)
    if rule.get("code"):
        return int(rule["code"])
    command = words[at + 1 :]
    code = subprocess.run(command, check=False, timeout=HANG_S).returncode if command else 0
    if rule.get("file"):
        Path(given["-d"]).mkdir()
        shutil.copy(rule["file"], Path(given["-d"]) / f"{given['-o']}_results.db")
    if rule.get("folder"):
        shutil.copytree(rule["folder"], Path(job["output_directory"]) / "ui_output_agent_4567_dispatch_12")
    if rule.get("hangs"):
        print("it hangs", flush=True)
        time.sleep(HANG_S)
    return code


def ssh(words: list[str]) -> int:
    """Run a command as a shell of the other machine would."""
    host, command = words[words.index("--") + 1 :]
    if host == "nowhere":
        print("ssh: Could not resolve hostname nowhere", file=sys.stderr)
        return 255
    return subprocess.run(["sh", "-c", command], check=False, timeout=HANG_S).returncode


def scp(words: list[str]) -> int:
    """Copy a folder."""
    source, target = words[words.index("--") + 1 :]
    shutil.copytree(source.partition(":")[2], target)
    return 0


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    sys.exit({"rocprofv3": rocprofv3, "ssh": ssh, "scp": scp}[name](rest))
