"""`rcv skill`: what a coding agent reads to record, read and compare captures with rcv."""

import sys
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.resources import find
from rcv_py.base.text import Message
from rcv_py.base.whole_files import whole_file
from rcv_py.cli.answer import put
from rcv_py.cli.options.program import SKILLS, SkillOptions

HOME = "packaging/skill/rcv/SKILL.md"  # beside the package in a checkout, inside where it is installed


def run(options: SkillOptions) -> None:
    """Print the skill, or install it as `rcv/SKILL.md` below a folder of skills."""
    source = find(HOME)
    if source is None:
        text = Message("{0} did not come with this rcv.", HOME)
        raise UsageError(text, hint="Install rcv-py from its wheel.")
    skill = source.read_bytes()
    if options.action is None:
        sys.stdout.write(skill.decode())
        return
    target = (options.folder or Path(SKILLS)) / "rcv" / "SKILL.md"
    if target.is_file() and target.read_bytes() != skill:
        text = Message("{0} is another version, or was edited.", target)
        raise UsageError(text, hint="Remove it, then install again.")
    with whole_file(target) as stream:
        stream.write(skill)
    put(Message("Installed: {0}", target))
