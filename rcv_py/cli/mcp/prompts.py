"""Short workflows for agents: which tools to use in which order, and how to word the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rcv_py.base.errors import UsageError

WORDING = (
    "Cycles at stake are upper bounds: call them so, and do not promise that much time. Attributed cycles "
    "are summed over waves and are not elapsed time. Where executions differ between two builds, say that an "
    "instruction takes fewer or more cycles per hit, not that it is faster or slower. What a tool leaves "
    "unexplained is unexplained; do not invent a cause."
)
INSTRUCTIONS = (
    "Tools to analyse AMD GPU thread traces (ui_output_* folders that rocprofv3 --att leaves behind). Paths "
    "are relative to the folder this server was started for; folder is a capture. Start with index to see "
    "which captures there are, check whether one can be trusted, and triage for what costs most; then "
    "causes, waits, loops, bubbles, line and isa for details, and compare after a change. Arguments are the "
    "options of `rcv COMMAND`; help lists all of them. Answers are the documents of `rcv COMMAND --json`, "
    "in 8 KB at most: a key `shortened` names lists that were cut; top, a filter, or max_kb (any tool "
    f"takes it, 0 for all) return more. {WORDING}"
)


class Prompt(NamedTuple):
    """A workflow: its text has a {name} for each of the arguments (name, meaning, required)."""

    name: str
    title: str
    text: str
    arguments: tuple[tuple[str, str, bool], ...]


_CAPTURE = "a ui_output_* folder below the root"
PROMPTS = (
    Prompt(
        "triage-capture",
        "Triage this capture",
        "Find out what costs most in the capture {capture}, and what to try first.\n"
        "1. check: stop here, and say what to record again, if its verdict is serious.\n"
        "2. triage: take the first three findings, with their evidence.\n"
        "3. For each: causes by instruction, or waits: what waits for what; line: how executions differ.\n"
        "4. Report per finding: the instruction and its source line, the cycles at stake as an upper bound, "
        "the evidence, and one concrete change.  Name what remains unexplained.",
        (("capture", _CAPTURE, True),),
    ),
    Prompt(
        "compare-builds",
        "Compare two builds",
        "Say whether {after} takes more or fewer cycles than {before}, beyond noise. Another capture of the "
        "first build, for the noise: {twin}.\n"
        "1. check both: a truncated or unrepresentative capture cannot be judged.\n"
        "2. compare folder={before} other={after}, with twin if one is given: quote its sentence and notes.\n"
        "3. compare by source or by block for where the difference is; only rows beyond noise count.\n"
        "4. triage the second capture for what is worth doing next.",
        (
            ("before", f"{_CAPTURE}, before the change", True),
            ("after", f"{_CAPTURE}, after the change", True),
            ("twin", "another capture of the build before the change", False),
        ),
    ),
    Prompt(
        "explain-line",
        "Explain this instruction",
        "Explain what instruction {line} of the capture {capture} costs, and why.\n"
        "1. line: how long its executions took, and whether all of them or only some are slow.\n"
        "2. causes by instruction: what it stalled for, and which instruction is to blame.\n"
        "3. If it is a wait: waits for what it waited for. If it is memory: latency by=memory.\n"
        "4. bubbles: whether other waves cover these cycles; covered cycles are not worth much.\n"
        "5. Say it in three sentences: what it does, what it waits for, what would help.",
        (("capture", _CAPTURE, True), ("line", "index of the instruction, as isa prints it", True)),
    ),
)
BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def prompt_text(name: str, given: Mapping[str, str]) -> str:
    """Return the text of a prompt; raise UsageError for an unknown one or a missing argument."""
    prompt = BY_NAME.get(name)
    if prompt is None:
        raise UsageError(f"There is no prompt {name}.", hint=f"There are {', '.join(BY_NAME)}.")
    missing = [one for one, _, required in prompt.arguments if required and not given.get(one)]
    if missing:
        raise UsageError(f"{name} needs {' and '.join(missing)}.", hint=f"It is: {prompt.title}")
    values = {one: given.get(one, "") or "(not given)" for one, _, _ in prompt.arguments}
    return f"{prompt.text.format(**values)}\n\n{WORDING}"
