"""`rcv triage`: what to look at first, with evidence and a remedy; for several captures, a line each."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from rcv_py.analysis.findings.finding import CAUTION, CONTEXT, RANKED, Finding, Findings, markdown
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import Message, plural
from rcv_py.cli.answer import CommandAnswer, Facts, Part, TextTable
from rcv_py.cli.opening import all_captures, facts_of, opened, refuse_for_one, wave_facts
from rcv_py.cli.options.shared import wants_predictions
from rcv_py.cli.terminal import bold, progress
from rcv_py.features.findings import result
from rcv_py.features.findings.options import TriageOptions
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.open import capture_entry
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace
from rcv_py.work.captures import InProcessExecutor, captures_mapped, executor_for
from rcv_py.work.findings import findings_of_trace
from rcv_py.work.opening import open_trace

_SECTIONS = {RANKED: "", CONTEXT: "Outside the ranking", CAUTION: "Caution"}


def run(options: TriageOptions) -> CommandAnswer:
    """Return the findings of a capture, or a table of several captures."""
    paths = all_captures([options.folder, *options.more])
    if len(paths) > 1:  # a folder around a single capture stands for it
        return _several(paths, options)
    refuse_for_one(options)
    trace = opened(options)
    facts = facts_of(trace, options)
    predict, waves = wants_predictions(options.predict, options.no_predict), options.waves or WORKING
    with progress() as report:
        found = findings_of_trace(
            trace, facts, waves, is_whole=options.all, workers=None, report=report, predict=predict
        )
    is_short = options.top is None and not (options.csv or options.json or options.all)
    shown = found.in_full if is_short else found.findings[: options.top or None]
    counted = None if found.choice is None else wave_facts(found.choice, found.of)
    return CommandAnswer(
        schema=result.SCHEMA,
        document=lambda: result.document(trace, found, result.finding_table(shown)),
        csv=lambda: result.finding_table(shown).csv(),
        text=lambda: _text(trace, found, shown),
        forms={"markdown": lambda: markdown(trace.name, found, shown)},
        of=trace,
        about={"files": facts.files, "waves": counted},
    )


def _text(trace: Trace, found: Findings, shown: Sequence[Finding]) -> Iterator[Part]:
    out = sys.stdout
    yield bold(trace.name, out)
    if found.has_verdict:
        yield bold(found.sentence, out)
    yield from filter(None, (found.detail,))
    texts = (Message("{0}, {1}", one.text, one.of) if one.of else one.text for one in found.numbers)
    yield Facts([(fact.name, text) for fact, text in zip(found.numbers, texts, strict=True)])
    if found.partial:
        yield Message("\nPartial: {0}. {1}", found.partial, found.why_partial)
    if found.selection:
        yield Message("\nRanked: {0}; --waves all ranks all of them.", found.selection)
    if found.legend:
        yield Message("\n{0}", found.legend)
    section = RANKED
    for number, finding in enumerate(shown, 1):
        if finding.rank != section:
            section = finding.rank
            yield Message("\n{0}", bold(_SECTIONS[section], out))
        yield Message("\n{0}", bold(Message("{0:>2}  {1}", number, finding.line), out))
        yield from (
            Message("    {0}: {1}", label, words) if label else Message("    {0}", words)
            for label, words in finding.parts
        )
        yield from (Message("      · {0}", str(place)) for place in finding.evidence)
    if found.why and not found.alarm:
        yield f"\n{found.why}"
    yield from _rest(found, shown)
    yield from (Message("\n{0}", taken) for taken in (found.assumption, found.predictions) if taken)


def _rest(found: Findings, shown: Sequence[Finding]) -> Iterator[str]:
    """What is not shown: the small findings in one line, and how many others --top omits."""
    left = [finding for finding in found.findings if finding not in shown]
    if found.small_text and len(left) >= len(found.small):
        yield Message("\n{0} --all shows them.", found.small_text)
    cut = sum(not finding.is_small for finding in left)
    if cut:
        yield Message("\n{0}: --top 0 shows all.", plural(cut, "further finding"))


def _several(paths: Sequence[Path], options: TriageOptions) -> CommandAnswer:
    if "top" in options.given:
        hint = "Name one of the captures, or leave it out."
        raise UsageError("--top is about the findings of one capture.", hint=hint)
    places = [options.seen(path) for path in paths]
    with executor_for(places, jobs=options.jobs, cluster=options.cluster) as executor:
        is_here = isinstance(executor, InProcessExecutor)
        find = partial(
            findings_of_trace,
            waves=options.waves or WORKING,
            is_whole=options.all,
            workers=None if is_here else 0,
            predict=wants_predictions(options.predict, options.no_predict),
        )
        given = tuple(map(options.seen, options.run_files or ()))
        judge = partial(judged_capture, given=given, find=find, cache=options.cache if is_here else None)
        with progress() as report:
            judged = list(captures_mapped(judge, places, executor, _without_findings, report))
    table = result.capture_table(judged, options.seen(options.folder))
    more = Message("\n{0}; `rcv triage CAPTURE` shows more.", plural(len(table), "capture"))
    said = [f"{one.entry.name}: {text}" for one in judged for text in one.problems]
    return CommandAnswer.of_table(
        result.FOLDER_SCHEMA,
        table,
        lambda: [TextTable(table), more],
        lambda: {"folder": str(options.folder)},
        rows="captures",
        forms={"markdown": table.markdown},
        about={"names": [one.entry.name for one in judged], "problems": said},
    )


def judged_capture(
    path: Path, given: tuple[Path, ...], find: Callable[..., Findings], cache: CaptureCache | None
) -> result.Judged:
    """Return the findings of one capture, or why there are none; a broken one does not stop the others."""
    entry = capture_entry(path)
    try:
        trace = open_trace(entry.path, cache=cache)
        found = find(trace, facts_about(trace, given))
    except RcvError as error:
        return result.Judged(entry, None, str(error))
    note = "" if found.findings else entry.note or found.headline
    return result.Judged(entry, found, note, tuple(map(str, trace.problems)))


def _without_findings(path: Path, error: RcvError) -> result.Judged:
    return result.Judged(capture_entry(path), None, f"{error} {error.hint}".strip())
