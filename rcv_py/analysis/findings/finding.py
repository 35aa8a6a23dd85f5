"""A finding: a named pattern, the most it can cost, where it is seen, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from rcv_py.analysis.waves.populations import WaveChoice
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message, capitalized, count, join_texts, joined_texts, percent, plural
from rcv_py.model.ids import WaveId

if TYPE_CHECKING:  # they import most analyses, and views of findings open before any are computed
    from rcv_py.analysis.attribution.attribute import Attribution
    from rcv_py.analysis.whatif.changes import Change

SIMD_CYCLES = "cycles in which a SIMD held a traced wave"
WORK_CYCLES = "cycles in which a SIMD held a traced wave, with and without an issue"
DEVICE_CYCLES = "cycles from the first start of a wave to the last end"
CAPTURE_CYCLES = "cycles of the capture"
SIMDS = "SIMDs of the shader engines that were seen"
SAMPLES = "PC samples"
SCOPES = "wave cycles in scopes of markers"
KERNEL_DURATION = "kernel's duration"
WITHOUT_GAIN = (SAMPLES, SCOPES)  # units of captures whose findings have no part of the duration to gain

# How findings are listed: ranked by gain, or after the ranked findings as context or a caution for all.
RANKED, CONTEXT, CAUTION = _ORDER = "ranked", "context", "caution"
_LAST = ("matrix-ceiling",)  # context for all others, listed last at any size
SMALL = 0.02  # of the kernel's duration: ranked findings with less to gain share one line
RANKING = "Predicting gains"  # while remedies are replayed
CALM = "No finding has 2 % of the kernel's duration or more to gain."
NO_PROMISE = (
    "Predicted gains come from replaying the recorded waves with the change of a remedy. "
    "They are not a promise: caches, clocks, other compute units and the compiled code stay as "
    "recorded."
)

LEGEND = (
    "Gains are parts of the kernel's duration: ≤ at most, ~ an estimate, → predicted for the fix, with its "
    "range; limit: predicted if all operations of the finding cost nothing. Findings are ranked by limit, "
    "else prediction, else bound, after one that names what limits the kernel."
)


class Evidence(Value):
    """A place where a finding can be seen; `kind` says which of the other fields apply.

    instruction: a code row; wave: a wave; token: one execution, by wave, row of its token, begin and end;
    window: a range of time; source: a source place.
    """

    kind: str
    text: str
    line: int = -1  # code row
    wave: WaveId | None = None
    token: int = -1  # row of the wave's tokens
    begin: int = 0  # cycles, aligned
    end: int = 0
    source: tuple[int, int] | None = None  # index into Trace.sources, 1-based line
    beside: str = ""  # the source line of the instruction, `file.py:186`; "" if it has none

    @property
    def place(self) -> str:
        """Where, in a few words: `instruction 62 file.py:186`, a wave, or a range of cycles."""
        beside = f" {self.beside}" if self.beside else ""
        line = Message("instruction {0}{1}", self.line, beside) if self.line >= 0 else ""
        places = {
            "instruction": line,
            "wave": f"{self.wave}",
            "window": Message("cycles {0} to {1}", count(self.begin), count(self.end)),
            "source": self.text,
        }
        token = join_texts(" ", filter(None, (str(self.wave), line)))
        return places.get(self.kind, Message("{0} at {1} to {2}", token, count(self.begin), count(self.end)))

    def __str__(self) -> str:
        is_alone = self.kind == "source" or not self.text
        return self.place if is_alone else Message("{0}: {1}", self.place, self.text)

    def as_json(self) -> dict[str, Any]:
        """Plain values, without fields that the kind does not use."""
        is_token, has_times = self.kind == "token", self.kind in ("token", "window")
        findings = {
            "kind": self.kind,
            "text": self.text,
            "instruction": self.line if self.line >= 0 else None,
            "source": self.beside or None,
            "wave": None if self.wave is None else str(self.wave),
            "token": self.token if is_token else None,
            "start": self.begin if has_times else None,
            "end": self.end if has_times else None,
            "position": self.source and {"file": self.source[0], "source_line": self.source[1]},
        }
        return {name: value for name, value in findings.items() if value is not None}


class RemedyExperiment(NamedTuple):
    """A change of a recording that predicts the gain of a remedy."""

    changes: tuple[Change, ...]
    is_limit: bool = False  # not the remedy's own change, but the most that can be done about the finding
    limits: tuple[tuple[Change, ...], ...] = ()  # each the most that can be done; the best of them counts

    @property
    def text(self) -> str:
        """What is changed."""
        from rcv_py.analysis.whatif.changes import changes_text  # noqa: PLC0415 - after a start

        return changes_text(self.changes)


class RemedyAdvice(NamedTuple):
    """A remedy of a finding, as it is shown."""

    text: str  # sentences
    id: str  # of the table of remedies
    effort: str  # low, medium or high
    trial: RemedyExperiment | None  # the trial that predicts its gain; None: no trial is possible


class Predicted(NamedTuple):
    """The predicted gain of a trial, as a part of the kernel's duration; below 0 it would take longer.

    `low` and `high` are the least and the greatest gain over all guesses and compute units.
    """

    gain: float
    low: float
    high: float
    replayed: float = nan  # by the replay alone, where it is above the bound of the finding; else nan

    @property
    def text(self) -> str:
        """`3.4 % (2.1 to 4.0 %)`; a minus: it would take longer; without a range of no width."""
        low, high = (signed_percent(share).removesuffix(" %") for share in (self.low, self.high))
        if low == high:
            return signed_percent(self.gain)
        return Message("{0} ({1} to {2} %)", signed_percent(self.gain), low, high)

    @property
    def row(self) -> str:
        """The same for a row of a list: `3.4 % (2.1–4)`."""
        gain, low, high = map(short_percent, (self.gain, self.low, self.high))
        if low == high:
            return f"{gain} %"
        return f"{gain} % ({low}–{high})" if low[0] != "−" else Message("{0} % ({1} to {2})", gain, low, high)


class Finding(Value):
    """One pattern in one capture."""

    name: str  # of the pattern: short, stable, for scripts and filters
    title: str  # one line for people
    cycles: int  # at stake
    is_upper_bound: bool  # no change of this alone can win more than `cycles`; else it is a cost, not a gain
    share: float  # of `of`, 0 to 1
    sentence: str  # what is seen, with numbers
    remedy: str  # what to do
    evidence: tuple[Evidence, ...] = ()
    assumption: str = ""  # what is assumed, and how sure it is
    exposed: int = 0  # cycles in which nothing happened, summed over waves; `cycles` is at most this
    attributed: int = 0  # stalled and idle cycles of all waves, whether covered by others or not
    unit: str = SIMD_CYCLES  # what `share` is a share of
    rank: str = RANKED
    gain: float = 0.0  # part of the kernel's duration, 0 to 1, at most; an estimate if no upper bound
    remedy_id: str = ""  # of the table of remedies; "" if none fits
    effort: str = ""  # of the remedy: low, medium or high
    trial: RemedyExperiment | None = None  # the trial that predicts the gain; None: no trial is possible
    others: tuple[RemedyAdvice, ...] = ()  # that fit too, if the first would slow the kernel
    predicted: Predicted | None = None  # None: not replayed (yet)
    limit: Predicted | None = None  # the most that can be done; None: not replayed, or `predicted` is it
    hot: tuple[int, ...] = ()  # code rows, of the ten hottest: their largest cause is in this finding

    @property
    def expected(self) -> float:
        """The gain that ranks findings, of the kernel's duration: the limit or prediction, else the bound.

        A remedy for one of many operations gains little, but that does not make the finding small.
        """
        best = self.limit or self.predicted
        return self.gain if best is None else best.gain

    @property
    def most(self) -> float:
        """The most that it can gain: its upper bound, else the largest of estimate and predictions."""
        replayed = () if self.is_upper_bound else filter(None, (self.predicted, self.limit))
        return max(self.gain, *(one.high for one in replayed), 0.0)

    @property
    def can_gain(self) -> bool:
        """Whether it is not a ranked finding, or can gain SMALL of the kernel's duration."""
        return self.rank != RANKED or self.unit in WITHOUT_GAIN or self.most >= SMALL

    @property
    def is_small(self) -> bool:
        """Whether it shares a line with others: it can gain little, and owns no hot instruction."""
        return not (self.can_gain or self.hot)

    @property
    def is_small_by_bound(self) -> bool:
        """Whether its bound makes it small, so that a prediction would add nothing."""
        return self.is_upper_bound and self.is_small

    @property
    def gain_row(self) -> str:
        """`≤ 22 % → 1.6 % (0–20); limit 21 %`, of the kernel's duration or the samples; "" if not ranked.

        `≤` is the bound (`~` an estimate), `→` the prediction for the remedy with its range.  The limit is
        left out where it is no more.
        """
        return self.gain_rows[0]

    @property
    def gain_rows(self) -> tuple[str, ...]:
        """`gain_row`, then shorter: without the range, and only the number that ranks it."""
        if self.rank != RANKED or not self.cycles or self.predicted is None:
            return (self._bound if self.rank == RANKED and self.cycles else "",)
        gain, limit = short_percent(self.predicted.gain), short_percent(self.expected)
        rows = (f"{self._bound} → {self.predicted.row}", f"{self._bound} → {gain} %")
        if self.expected <= self.predicted.gain or limit == gain:
            return (*rows, f"→ {gain} %")
        return (*(Message("{0}; limit {1} %", row, limit) for row in rows), Message("limit {0} %", limit))

    @property
    def _bound(self) -> str:
        sign = "≤" if self.is_upper_bound else "~"
        return f"{sign} {short_percent(self.share if self.unit in WITHOUT_GAIN else self.gain)} %"

    @property
    def key_sentence(self) -> str:
        """The first sentence of what is seen."""
        return joined_texts(self.sentence, " ")[0]

    @property
    def line(self) -> str:
        """Title and `gain_row`: the finding in a line."""
        return Message("{0}  {1}", self.title, self.gain_row) if self.gain_row else self.title

    @property
    def gain_text(self) -> str:
        """`at most 4.7 % of the kernel's duration`; "" if it is not ranked."""
        if self.rank != RANKED or self.unit in WITHOUT_GAIN:
            return ""
        bound = "at most" if self.is_upper_bound else "about"
        return Message("{0} {1} of the kernel's duration", bound, gain_percent(self.gain))

    # The predicted gain, the least and the greatest; nan without a prediction.
    predicted_gain = property(lambda self: nan if self.predicted is None else self.predicted.gain)
    predicted_low = property(lambda self: nan if self.predicted is None else self.predicted.low)
    predicted_high = property(lambda self: nan if self.predicted is None else self.predicted.high)

    @property
    def limit_gain(self) -> float:
        """The predicted gain of the limit, nan if it was not replayed."""
        best = self.limit or (self.predicted if self.is_limit else None)
        return nan if best is None else best.gain

    @property
    def experiment(self) -> str:
        """The trial that was replayed, "" without a prediction."""
        return "" if self.trial is None or self.predicted is None else self.trial.text

    @property
    def is_limit(self) -> bool:
        """Whether the trial is the most that can be done about the finding, not the remedy's own change."""
        return bool(self.experiment) and self.trial is not None and self.trial.is_limit

    @property
    def trial_text(self) -> str:
        """A sentence on the trial and its prediction; "" without a prediction."""
        if not self.experiment or self.predicted is None:
            return ""
        gain = Message("predicted {0}", self.predicted.text)
        what = capitalized(self.experiment)
        limit = ", the limit of what can be done about it" if self.is_limit else ""
        text = Message("{0}{1}: {2} of the kernel's duration.", what, limit, gain)
        best = self.limit or self.predicted
        is_more = best.text != self.predicted.text
        most = Message("The limit of what can be done: {0}.", best.text) if is_more else ""
        if isnan(best.replayed):
            return join_texts(" ", filter(None, (text, most)))
        template = "The bound holds: the replay alone says {0}, as waves then wait elsewhere at other times."
        cut = Message(template, signed_percent(best.replayed))
        return join_texts(" ", filter(None, (text, most, cut)))

    @property
    def cycles_at_stake_text(self) -> str:
        """`at most 8,296 cycles (4.7 %)`, or another text for the cycles at stake."""
        if not self.cycles:
            return ""
        unit = "samples" if self.unit == SAMPLES else "cycles"
        bound = "at most" if self.is_upper_bound else "about"
        return Message("{0} {1} {2} ({3})", bound, count(self.cycles), unit, gain_percent(self.share))

    @property
    def impact(self) -> str:
        """`at most 4.7 % of the kernel's duration: 8,296 cycles in which …`; "" if it has none.

        Only what has no gain is a part of its own unit.
        """
        if self.gain_text and self.cycles:
            unit = Message("cycles of {0}", self.unit) if self.unit == SIMDS else self.unit
            return Message("{0}: {1} {2}", self.gain_text, count(self.cycles), unit)
        at_stake = self.cycles_at_stake_text
        return self.gain_text or (at_stake and Message("{0} of {1}", at_stake, self.unit))

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """What every view shows besides title, evidence and assumption: label ("" for none) and sentence."""
        impact = Message("{0}.", capitalized(self.impact)) if self.impact else ""
        gain = join_texts(" ", filter(None, (impact, self.trial_text)))
        stake = "Gain" if self.gain_text else "At stake"
        named = (("What", self.sentence), ("Fix", self.remedy), (stake, gain))
        return tuple((label, sentence) for label, sentence in named if sentence)


def place_of(bound: BoundClass | None, finding: Finding) -> tuple[Any, ...]:
    """Sort key of a finding: what the class of the kernel names, then by limit, else prediction, else bound.

    What the bytes or the issue cycles of a kernel leave to gain comes after the finding about them.
    """
    return (
        _ORDER.index(finding.rank),
        finding.name in _LAST,
        finding.is_small,
        bound is None or finding.name != bound.name,
        -finding.expected,
        -finding.gain,
        -finding.share,
        -finding.attributed,
        finding.name,
    )


def signed_percent(share: float) -> str:
    """A predicted gain as text: `3.4 %`, `−0.2 %` where it would take longer, `0.0 %` for less than that."""
    if -0.0005 < share < 0:
        return gain_percent(0.0)
    return f"{'−' if share < 0 else ''}{gain_percent(abs(share))}"


def short_percent(share: float) -> str:
    """A gain as a number of at most two digits, in percent: `22`, `1.6`, `0`, `−0.2`."""
    size = f"{abs(100 * share):.0f}" if abs(share) >= 0.0995 else f"{abs(100 * share):.1f}".removesuffix(".0")
    return f"−{size}" if share < 0 and size != "0" else size


def gain_percent(gain: float) -> str:
    """A share of the kernel's duration as text."""
    return percent(round(gain * 1_000_000), 1_000_000)


class SupportingNumber(NamedTuple):
    """A number that supports the class."""

    id: str
    value: float
    text: str


class BoundClass(NamedTuple):
    """What limits a kernel."""

    name: str
    sentence: str  # at most twelve words
    detail: str  # the same with more numbers
    numbers: tuple[SupportingNumber, ...]  # that support it, the deciding number first

    @property
    def evidence(self) -> SupportingNumber:
        """The number that decided."""
        return self.numbers[0]

    def as_json(self) -> dict[str, object]:
        """As plain values, for JSON."""
        numbers = [{**one._asdict(), "value": round(one.value, 6)} for one in self.numbers]
        return {**self._asdict(), "numbers": numbers}


class KeyNumber(NamedTuple):
    """A number that puts all findings into context."""

    id: str
    name: str
    text: str
    of: str = ""
    meaning: str = ""
    share: float | None = None  # 0 to 1; None if it is not a share


KEY_NUMBERS = ("duration", "nothing", "matrix", "occupancy", "samples", "scopes", "stall", "silent", "waves")
MAX_KEY_NUMBERS = 3
UNKNOWN_CLASS = "What limits the kernel is not known."


class Findings(Record):
    """All findings of a capture, ranked; what they are measured against, and how much was analysed."""

    numbers: tuple[KeyNumber, ...]
    findings: tuple[Finding, ...] = ()  # largest gain first; then small findings, context and cautions
    waves: int = 0  # analysed
    of: int = 0  # traced waves
    resident: int = 0  # cycles in which a SIMD held a wave, summed over SIMDs
    no_issue: int = 0  # of these, cycles in which no wave of the SIMD issued
    bubbles: int = 0  # of these, cycles in which no unit of the SIMD worked either
    assumption: str = ""
    why: str = ""  # why there is nothing, or what is missing
    bound_class: BoundClass | None = None  # what limits the kernel; None if unknown
    alarm: str = ""  # why the capture allows no conclusion, and what to do; "" if it does
    choice: WaveChoice | None = None  # the waves whose costs are ranked, of the analysed waves
    unread: int = 0  # waves whose file is missing or damaged
    working_share: float = 1.0  # of the launch, in which traced waves that count were resident
    unreadable: str = ""  # which waves or instruction texts are not to be trusted, and why; "" if all are
    guesses: tuple[str, ...] = ()  # the alternative assumptions of predictions, sentences
    not_replayed: str = ""  # why nothing was predicted although remedies can be replayed, a sentence
    attribution: Attribution | None = None  # of the waves whose costs are ranked; None: nothing is ranked

    @property
    def in_full(self) -> tuple[Finding, ...]:
        """The findings that are shown in full."""
        return tuple(finding for finding in self.findings if not finding.is_small)

    @property
    def same_bound(self) -> tuple[int, ...]:
        """For each finding shown in full, the index of the first with the same bound; its own if none.

        Both are the same cycles seen from two sides: to win the cycles of either wins both.
        """
        first: dict[object, int] = {}
        found = []
        for place, one in enumerate(self.in_full):
            is_bound = one.rank == RANKED and one.cycles > 0
            key = (one.cycles, one.unit, one.gain, one.is_upper_bound) if is_bound else place
            found.append(first.setdefault(key, place))
        return tuple(found)

    @property
    def small(self) -> tuple[Finding, ...]:
        """The findings that are listed in one line."""
        return tuple(finding for finding in self.findings if finding.is_small)

    @property
    def small_text(self) -> str:
        """The small findings in one line; "" if there are none."""
        names = join_texts(", ", (Message("{0} {1}", one.title, one.gain_row) for one in self.small))
        least = f"{100 * SMALL:.0f} %"
        return Message("Below {0} of the kernel's duration: {1}.", least, names) if names else ""

    @property
    def legend(self) -> str:
        """What gains are parts of, and their signs; "" if there are none."""
        return LEGEND if any(finding.gain_text for finding in self.findings) else ""

    @property
    def gain_base(self) -> str:
        """What gains, bounds and predictions are parts of."""
        units = [finding.unit for finding in self.findings if finding.unit in WITHOUT_GAIN]
        return units[0] if units else KERNEL_DURATION

    @property
    def has_verdict(self) -> bool:
        """Whether `sentence` says more than the first finding."""
        return bool(self.alarm or self.unreadable) or self.bound_class is not None

    @property
    def sentence(self) -> str:
        """The sentence to read first: the alarm, what limits the kernel, or why there are no findings."""
        if self.alarm:
            return self.alarm
        if self.bound_class is None:
            return join_texts(" ", (self.unreadable, UNKNOWN_CLASS)) if self.unreadable else self.headline
        return join_texts(" ", filter(None, (self.unreadable, self.bound_class.sentence)))

    @property
    def detail(self) -> str:
        """What limits the kernel with more numbers, "" if nothing can be concluded."""
        return "" if self.alarm or self.bound_class is None else self.bound_class.detail

    @property
    def key_numbers(self) -> tuple[KeyNumber, ...]:
        """The three numbers that say most."""
        known = {number.id: number for number in self.numbers}
        return tuple(known[id] for id in KEY_NUMBERS if id in known)[:MAX_KEY_NUMBERS]

    @property
    def headline(self) -> str:
        """The first finding in one line, or why there is none."""
        if self.alarm:
            return self.alarm
        if self.findings:
            return self.findings[0].line
        return self.why or "Nothing stands out."

    @property
    def predictions(self) -> str:
        """What predictions are and assume, or why there are none although there could be; sentences."""
        return join_texts(" ", (NO_PROMISE, *self.guesses)) if self.guesses else self.not_replayed

    @property
    def partial(self) -> str:
        """How many waves were analysed, "" if all were."""
        return Message("{0:,} of {1:,} waves", self.waves, self.of) if self.waves < self.of else ""

    @property
    def why_partial(self) -> str:
        """Why not all waves were analysed, a sentence; "" if all were."""
        left = self.of - self.waves - self.unread
        files, are = plural(self.unread, "wave file"), "is" if self.unread == 1 else "are"
        gone = Message("{0} {1} missing or damaged.", files, are) if self.unread else ""
        part = (
            "Of a large capture only part of the waves was read, by engine or by time; --all reads "
            "every wave."
        )
        return join_texts(" ", filter(None, (gone, part if left > 0 and self.waves else "")))

    @property
    def selection(self) -> str:
        """Which waves are ranked, "" if all analysed waves are."""
        return "" if self.choice is None or self.choice.rows is None else self.choice.text


def markdown(name: str, findings: Findings, shown: Sequence[Finding] | None = None) -> str:
    """Return findings as a Markdown page: key numbers, then a section a finding."""
    lines = _page(name, findings, findings.in_full if shown is None else shown)
    return "".join(f"{line}\n" for line in lines)


def finding_as_markdown(number: int, finding: Finding) -> str:
    """Return one finding as a Markdown section."""
    return "".join(f"{line}\n" for line in _section(number, finding))


def _page(name: str, findings: Findings, shown: Sequence[Finding]) -> Iterator[str]:
    from rcv_py.base.markdown import md_text  # noqa: PLC0415 - a window needs it only for a copy

    yield Message("# Triage of {0}", md_text(name))
    yield ""
    if findings.has_verdict:
        yield from (f"**{md_text(findings.sentence)}** {md_text(findings.detail)}".rstrip(), "")
    for number in findings.numbers:
        yield f"- {md_text(number.name)}: **{md_text(number.text)}** {md_text(number.of)}".rstrip()
    if findings.partial:
        yield Message("- Partial: {0}", md_text(findings.partial))
    for note in filter(None, ("" if findings.alarm else findings.why, findings.legend)):
        yield from ("", md_text(note))
    for place, finding in enumerate(shown, 1):
        yield ""
        yield from _section(place, finding)
    if findings.small_text and not any(finding.is_small for finding in shown):
        yield from ("", md_text(findings.small_text))
    for taken in filter(None, (findings.assumption, findings.predictions)):
        yield from ("", f"*{md_text(taken)}*")


def _section(number: int, finding: Finding) -> Iterator[str]:
    from rcv_py.base.markdown import md_code, md_text  # noqa: PLC0415 - as above

    yield f"## {number}. {md_text(finding.line)}"
    yield ""
    for label, sentence in finding.parts:
        yield from (f"**{label}**: {md_text(sentence)}" if label else md_text(sentence), "")
    for place in finding.evidence:
        is_code = place.kind == "instruction"
        text = md_code(place.text, in_table=False) if is_code else md_text(place.text)
        yield f"- {md_text(place.place)}: {text}"
    if finding.assumption:
        yield from ("", f"*{md_text(finding.assumption)}*")
