"""`rcv compare BUILD_A BUILD_B`: two builds of kernels, a gate that needs no GPU."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rcv_py.analysis.compare.programs import ProgramChange, program_change
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, plural, some
from rcv_py.cli.answer import CommandAnswer, Part, TextTable, limited
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import opened
from rcv_py.cli.options.option import flag_of
from rcv_py.cli.terminal import bold, complain
from rcv_py.features.compare import program_result
from rcv_py.features.compare.options import CompareOptions
from rcv_py.formats.compiled import kernel_label
from rcv_py.formats.locate import CaptureForm, shape_of
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace

TRIPS = {
    "regression": ("registers", "spills", "waves"),
    **{name: (name,) for name in ("registers", "spills", "waves")},
}
_OF_CAPTURES = ["metric", "least", "seed", "waves", "beyond_noise", "junit", "twin", "jobs", "cluster"]
_NAMED = 6  # kernels that a sentence names


def compare_builds(before: Sequence[Path], after: Sequence[Path], options: CompareOptions) -> CommandAnswer:
    """Compare kernels of builds, or one capture with its kernel of a build."""
    for flag in _OF_CAPTURES:
        if flag in options.given:
            text = Message("{0} is about recorded cycles, and B has not run.", flag_of(flag))
            raise UsageError(text, hint="Leave it out, or record B with rocprofv3 --att.")
    if options.by not in program_result.BY:
        text = Message("Builds have no --by {0}.", options.by)
        raise UsageError(text, hint="Use instruction, block or class.")
    a, b = ({(path.parent.name, path.name): path for path in side} for side in (before, after))
    if shape_of(before[0]) is not CaptureForm.COMPILED:
        return _of_capture(before, after, options)
    pairs = [(a[key], b[key]) for key in a if key in b]
    if len(before) == len(after) == 1:
        pairs = [(before[0], after[0])]
    if not pairs:
        names = some([kernel_label(path) for path in before], _NAMED)
        none = "The builds have no kernel of the same name and target."
        raise UsageError(none, hint=Message("A has {0}.", names))
    found = [_change(opened(options, one), opened(options, other)) for one, other in pairs]
    if len(found) == 1 and len(before) == len(after) == 1:
        return _one(found[0], options)
    alone = [
        [kernel_label(path) for key, path in side.items() if key not in other]
        for side, other in ((a, b), (b, a))
    ]
    return _several(found, alone, options)


def _change(a: Trace, b: Trace) -> ProgramChange:
    return program_change(a, b, (facts_about(a), facts_about(b)))


def _of_capture(before: Sequence[Path], after: Sequence[Path], options: CompareOptions) -> CommandAnswer:
    """A capture against the kernel of the same name and target."""
    if len(before) != 1:
        raise UsageError(Message("{0} holds several captures, and one is needed.", options.folder))
    trace = opened(options, before[0])
    symbols = {kernel.name for kernel in trace.code.kernels}
    same = [path for path in after if path.name in symbols and path.parent.name.startswith(trace.target)]
    fits = same or (list(after) if len(after) == 1 else [])
    if len(fits) != 1:
        text = Message("{0} kernels of the build fit {1} of {2}.", len(fits), trace.kernel_name, trace.target)
        names = some([kernel_label(path) for path in after], _NAMED)
        raise UsageError(text, hint=Message("Choose with --kernel and --target: {0}.", names))
    return _one(_change(trace, opened(options, fits[0])), options)


def _one(found: ProgramChange, options: CompareOptions) -> CommandAnswer:
    table = program_result.TABLES[options.by](found)
    shown = limited(table, options)

    def text() -> Iterator[Part]:
        yield bold(program_result.verdict(found), sys.stdout)
        if options.by != "class":
            yield from ("", TextTable(program_result.measure_table(found)))
        if len(table):
            yield from ("", TextTable(shown, found.b))
            of = plural(len(table), table.spec.noun)
            yield Message("\n{0:,} of {1}. {2}", len(shown), of, table.spec.note)
        if found.unknown:
            yield Message("Not known of both builds: {0}.", ", ".join(found.unknown))

    def markdown() -> str:
        measures = program_result.measure_table(found).markdown()
        return f"**{program_result.verdict(found)}**\n\n{measures}"

    return CommandAnswer.of_table(
        program_result.SCHEMA,
        shown,
        text,
        lambda: program_result.build_facts(found) | {"by": options.by},
        forms={"markdown": markdown},
        about={"traces": [found.a, found.b]},
        code=_gate(options.fail_on, [found]),
    )


def _several(
    found: Sequence[ProgramChange], alone: Sequence[list[str]], options: CompareOptions
) -> CommandAnswer:
    table = program_result.kernel_table(found)
    shown = limited(table, options)
    worse, same = sum(bool(one.worse) for one in found), sum(one.align.is_same for one in found)
    template = "{0} in both builds: {1:,} unchanged, {2:,} with more registers, more spills or fewer waves."
    sentence = Message(template, plural(len(found), "kernel"), same, worse)

    def text() -> Iterator[Part]:
        yield from (bold(sentence, sys.stdout), "", TextTable(shown))
        for side, names in zip("AB", alone, strict=True):
            if names:
                yield Message("\nOnly in {0}: {1}.", side, some(names, _NAMED))

    a, b = str(options.folder), str(options.other)
    facts = {"a": a, "b": b, "sentence": sentence, "only_a": alone[0], "only_b": alone[1]}
    return CommandAnswer.of_table(
        program_result.SEVERAL_SCHEMA,
        shown,
        text,
        lambda: facts,
        rows="kernels",
        forms={"markdown": table.markdown},
        about={"names": [a, b], "problems": []},
        code=_gate(options.fail_on, found),
    )


def _gate(fail_on: str | None, found: Sequence[ProgramChange]) -> int:
    """3 if B is worse in what the option names; 2 if that is not known of both builds."""
    if fail_on is None:
        return ExitCode.DONE
    if fail_on == "difference":
        return ExitCode.DONE if all(one.align.is_same for one in found) else ExitCode.GATE
    if any(set(one.worse) & set(TRIPS[fail_on]) for one in found):
        return ExitCode.GATE
    unknown = sorted({name for one in found for name in one.unknown} & set(TRIPS[fail_on]))
    if unknown:
        complain(Message("The gate cannot decide: {0} are not known of both builds.", ", ".join(unknown)))
    return ExitCode.USAGE if unknown else ExitCode.DONE
