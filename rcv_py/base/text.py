"""Format numbers, names, paths and places for display, and parse integers in untrusted texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cache
from math import ceil, isfinite
from numbers import Number
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # of other languages than English
    from gettext import NullTranslations

DASH = "–"  # printed for an unknown value: never 0
LARGEST = (1 << 31) - 1  # of an operand: encodings have 16 bits, in rare forms 32
MAX_DIGITS = 18  # of a place or an option: always fits into 64 bits
_EDGE = "\0"  # of a translated value, until its text is complete
_WIDE = "[\u3000-\u9fff\uff00-\uffef]"
_GAP = f"(?<={_WIDE}) (?={_EDGE}{_WIDE})|(?<={_WIDE}{_EDGE}) (?={_EDGE}?{_WIDE})"
_LENGTH = re.compile(r"\d{1,4}")
_NESTED = re.compile(r"N[rVK]*[RO]?")  # members may be const, volatile, or for one kind of reference
_LITERAL = re.compile(r"L[a-z]n?\d+E")
_OPERAND = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]+)|([0-9]+))")
_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")  # the wide ones count in East Asian settings
_NUMBER = re.compile(  # whole ones possessive, so that a long text is read once
    r"[-+]?(?:\d[\d,]*+(?:\.\d++|(?<!,))|\.\d++)(?:e[-+]?\d+)?(?: ?%)?", re.ASCII
)


class Message(str):
    """A text with values: in English, and able to say the same in another language.

    `Message("{0:,} waves of {1}", waves, kernel)` is the English text wherever a `str` is expected.
    `translated` looks up the template, and then the values that are texts; no value is a template.
    """

    __slots__ = ("named", "template", "values")
    template: str
    values: Sequence[Any]
    named: Mapping[str, Any]

    def __new__(cls, template: str, *values: object, **named: object) -> Self:
        """Make the English text."""
        return cls.of(template.format(*values, **named), template, values, named)

    @classmethod
    def of(
        cls, text: str, template: str, values: Sequence[object], named: Mapping[str, object] | None = None
    ) -> Self:
        """Make a message that reads so in English."""
        message = str.__new__(cls, text)
        message.template, message.values, message.named = template, values, named or {}
        return message

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> Message:
        return _Joined.of("".join((self, other)), "", (self, other))

    def __radd__(self, other: str) -> Message:
        return _Joined.of("".join((other, self)), "", (other, self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (self[:], self.template, self.values, self.named)

    def said_in(self, language: NullTranslations) -> str:
        """Return the text in a language."""
        named = {name: _marked(value, language) for name, value in self.named.items()}
        values = (_marked(value, language) for value in self.values)
        return re.sub(_GAP, "", language.gettext(self.template).format(*values, **named)).replace(_EDGE, "")


class _Counted(Message):
    """A number of something; the template has a line for one, and a line for any other number."""

    def said_in(self, language: NullTranslations) -> str:
        one, _, many = self.template.partition("\n")
        return language.ngettext(one, many, ceil(self.values[0])).format(*self.values)


class _Joined(Message):
    """Texts with a separator, the template, between them."""

    def said_in(self, language: NullTranslations) -> str:
        between = language.gettext(self.template)
        text = between.join(_said(value, language) for value in self.values)
        return text.replace("。 ", "。")  # this stop has a space of its own


class _Spoken:
    name = "en"
    language: NullTranslations | None = None  # None is English


def translated(text: str) -> str:
    """Return one of our texts as it is shown: in English or in the chosen language.

    Call it only where a text is displayed: documents, tables and compared texts stay English.  Texts that are
    not in the catalogue, such as names of captures, are returned unchanged.
    """
    return text if _Spoken.language is None else _said(text, _Spoken.language)


def _said(value: Any, language: NullTranslations) -> Any:
    if isinstance(value, Message):
        return value.said_in(language)
    if isinstance(value, Number):
        return value
    return language.gettext(value) if isinstance(value, str) else _said(str(value), language)


def _marked(value: Any, language: NullTranslations) -> Any:
    """A value in a language, between marks if it is in wide letters."""
    said = _said(value, language)
    return f"{_EDGE}{said}{_EDGE}" if isinstance(said, str) and said != value and not said.isascii() else said


def is_english() -> bool:
    """Whether texts are shown in English, untranslated."""
    return _Spoken.language is None


def spoken_language() -> str:
    """Return the name of the language in which texts are shown: `en`, `zh_CN`."""
    return _Spoken.name


def speak(language: NullTranslations | None, name: str = "en") -> None:
    """Show texts in a language from now on; None is English."""
    _Spoken.language, _Spoken.name = language, name


def join_texts(between: str, texts: Iterable[str]) -> str:
    """Return texts with a separator between them; each is translated where the whole is."""
    values = tuple(texts)
    return _Joined.of(between.join(values), between, values)


def joined_texts(text: str, between: str) -> tuple[str, ...]:
    """Return the texts that `join_texts` joined with this separator, else the text alone."""
    return (*text.values,) if isinstance(text, _Joined) and text.template == between else (text,)


def capitalized(text: str) -> str:
    """Return a text with a capital first letter."""
    return Message.of(text[:1].upper() + text[1:], "{0}", (text,))


def uncapitalized(text: str) -> str:
    """Return a text with a small first letter."""
    return Message.of(text[:1].lower() + text[1:], "{0}", (text,))


def cells(text: str) -> int:
    """Return the columns of a terminal that a text takes: East Asian characters take two each."""
    if text.isascii():
        return len(text)
    from unicodedata import east_asian_width  # noqa: PLC0415 - few texts need its tables

    return sum(1 + (east_asian_width(letter) in "WF") for letter in text)


def padded(text: str, width: int, *, is_right: bool = False) -> str:
    """Pad a text with spaces to `width` columns of a terminal, after or before it."""
    space = " " * (width - cells(text))
    return space + text if is_right else text + space


def count(value: float) -> str:
    """Return a whole number grouped by thousands: `12,345`."""
    return f"{value:,}"


def short_count(value: float) -> str:
    """Return a number in at most five characters: `812`, `12.3K`, `4.01M`."""
    value, unit = _scaled(value, ("", "K", "M", "G", "T"), 999.5)
    digits = 0 if not unit or abs(value) >= 99.95 else 2 if abs(value) < 9.995 else 1
    return f"{value:.{digits}f}{unit}"


def _scaled(value: float, units: Sequence[str], limit: float) -> tuple[float, str]:
    """The value in the first unit in which it is below the limit; each unit is 1,000 of the previous."""
    step = 0
    while abs(value) >= limit and step < len(units) - 1:
        value /= 1000
        step += 1
    return value, units[step]


def percent(part: float, whole: float) -> str:
    """Return a share such as `18.2 %`; an empty string when the whole is zero."""
    if not whole:
        return ""
    value = 100.0 * part / whole
    return f"{value:.1f} %" if value >= 0.05 or value == 0 else "<0.1 %"


def known_percent(share: float | None) -> str:
    """Return a fraction such as `18.2 %`; a dash if it is unknown."""
    return "–" if share is None else percent(share, 1)


def byte_size(value: float) -> str:
    """Return a size with its unit: `19.2 MB`."""
    value, unit = _scaled(value, ("B", "KB", "MB", "GB", "TB"), 1000)
    return f"{value:.{0 if unit == 'B' else 1}f} {unit}"


def nanoseconds(value: float) -> str:
    """Return a duration with three significant digits: `812 ns`, `52.1 µs`, `3.41 ms`."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(value) >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g} ns"


def plural(number: float, one: str, many: str = "") -> str:
    """Return `1 wave`, `32 waves`, `2 entries`."""
    is_ies = one.endswith("y") and one[-2:-1] not in "aeiou"
    many = many or (one[:-1] + "ies" if is_ies else one + "s")
    template = f"{{0:,}} {one}\n{{0:,}} {many}"
    return _Counted.of(f"{number:,} {one if number == 1 else many}", template, (number,))


def some(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first names, joined, and the number of others; `none` without any."""
    listed = join_texts(between, names[:most]) if names and most else "none"
    left = len(names) - most
    if left == 1:
        return Message("{0} and 1 other", listed)
    return Message("{0} and {1:,} others", listed, left) if left > 1 else listed


def elide_left(text: str, width: int) -> str:
    """Keep the last `width` columns of a terminal, with an ellipsis for the cut text."""
    if cells(text) <= width:
        return text
    return "…" + (text[len(text) - width + 1 :] if text.isascii() else _first(text[::-1], width - 1)[::-1])


def elide_right(text: str, width: int) -> str:
    """Keep the first `width` columns of a terminal, with an ellipsis for the cut text."""
    if text.isascii():
        return text if len(text) <= width else text[: width - 1] + "…"
    return text if cells(text) <= width else _first(text, width - 1) + "…"


def _first(text: str, width: int) -> str:
    """The longest prefix that takes at most `width` columns of a terminal."""
    taken = 0
    for at, letter in enumerate(text):
        taken += cells(letter)
        if taken > width:
            return text[:at]
    return text


def short_kernel(name: str) -> str:
    """Return a kernel's name, demangled, without arguments, template arguments and return type."""
    named = demangled(name.removesuffix(".kd")).replace("(anonymous namespace)::", "")
    plain = named.split("(")[0].strip() or name
    plain = _without_brackets(plain) if "<" in plain else plain
    return plain.split(" ")[-1].removesuffix(".kd") or name


def _without_brackets(text: str) -> str:
    """Remove all pairs of `<` and `>` and the text between them, in one pass for any depth."""
    kept: list[str] = []
    opened: list[int] = []
    for letter in text:
        if letter == ">" and opened:
            del kept[opened.pop() :]
            continue
        if letter == "<":
            opened.append(len(kept))
        kept.append(letter)
    return "".join(kept)


def no_formula(text: str) -> str:
    """Return a text as a CSV cell that no spreadsheet evaluates: `'` before a text that looks like a formula.

    Signed numbers are not changed.  Names of kernels and paths come from untrusted captures.
    """
    if len(text) > 1 and text[0] in _FORMULA and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


_UNSEEN = (  # in addition to the control characters below the blank
    "\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\uffff\U000110bd\U000110cd\U00013430-\U00013442\U00013447-\U0001345f\U0001bca0-\U0001bcaf\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_LAYOUT = "\n\r\t"
_HALF = re.compile("[\ud800-\udfff]")


@cache
def _unseen(keep: str) -> re.Pattern[str]:
    """An invisible character, except some control characters: a long text has many of those."""
    controls = "".join(f"\\x{code:02x}" for code in range(0x20) if chr(code) not in keep)
    return re.compile(f"[{controls}{_UNSEEN}]")


def visible(text: str, keep: str = "") -> str:
    r"""Return the text with an escape such as `\x1b` or `\u202e` for each invisible character.

    These are control characters (C0, DEL, C1), bidirectional controls, line separators, characters without
    width, and lone surrogates: they control a terminal or mislead a reader.  `keep` names control characters
    that stay, such as `"\n"` for text of several lines.
    """
    if text.isascii() and text.isprintable():
        return text
    return _unseen(keep).sub(lambda found: _escape(found[0]), text)


def encodable(text: str) -> str:
    r"""Return the text with an escape such as `\udc80` for each lone surrogate, which UTF-8 cannot encode."""
    return text if text.isascii() else _HALF.sub(lambda found: _escape(found[0]), text)


def plain_document(value: Any) -> Any:
    """Return a document as readers of its JSON get it: lists, valid texts, None in place of nan."""
    if isinstance(value, dict):
        return {plain_document(key): plain_document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_document(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return encodable(value)[:] if isinstance(value, str) else value


def json_bytes(document: Any, option: int = 0) -> bytes:
    """Return JSON, also of texts that are not valid, as names of files may be; `option` is of orjson."""
    import orjson  # noqa: PLC0415 - many commands print no JSON

    try:
        return orjson.dumps(document, option=option)
    except TypeError:  # a lone surrogate, which UTF-8 cannot encode
        return orjson.dumps(plain_document(document), option=option)


def _escape(letter: str) -> str:
    return letter.encode("unicode-escape").decode()


def escaped_json(document: str) -> str:
    r"""Return equivalent JSON with visible characters only: others become escapes such as `\u202e`.

    Line feeds and tabs of the layout stay: inside texts JSON escapes them anyway.
    """
    return _unseen(_LAYOUT).sub(_json_escape, document)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def operand(text: str) -> int | None:
    """Parse `12`, `-3`, `0x1f` or `007` to a number between -LARGEST and LARGEST; None if it is not a number.

    Leading zeros are ignored.  Larger numbers, which no encoding can hold, become LARGEST; Python itself
    refuses to read more than 4,300 digits.
    """
    found = _OPERAND.fullmatch(text)
    if found is None:
        return None
    digits, base = (found[2], 16) if found[2] else (found[3], 10)
    digits = digits.lstrip("0")
    size = min(LARGEST, int(digits[:20] or "0", base)) if len(digits) <= 20 else LARGEST
    return -size if found[1] else size


def number(text: str) -> int:
    """Parse the digits of an operand like `operand`; 0 if there are none."""
    return operand(text) or 0


def short_paths(paths: Iterable[str]) -> dict[str, str]:
    """Return the shortest unique suffix of each path; folder separators become `/`.

    `/opt/lib/expr/numeric.py` and `/opt/lib/ops/numeric.py` become `expr/numeric.py` and `ops/numeric.py`.
    Only whole folders are kept or left out.  `/./` and repeated separators are ignored, so two spellings of
    one path get the same text.
    """
    split = {path: path.replace("\\", "/").split("/") for path in paths}
    parts = {path: tuple(part for part in one if part not in ("", ".")) for path, one in split.items()}
    often = Counter(one[-n:] for one in set(parts.values()) for n in range(1, len(one) + 1))
    short = {}
    for path, one in parts.items():
        unique = (one[-n:] for n in range(1, len(one)) if often[one[-n:]] == 1)
        short[path] = "/".join(next(unique, one)) or path
    return short


def short_place(place: str, short: Mapping[str, str]) -> str:
    """Return `path:line` with the path from `short`; unknown paths are not changed."""
    path, colon, line = place.rpartition(":")
    return f"{short.get(path, path)}{colon}{line}" if colon else short.get(place, place)


def demangled(symbol: str) -> str:
    """Return `foo::bar` for `_ZN3foo3barEi`; the symbol itself if it is not mangled or too intricate."""
    if not symbol.startswith("_Z"):
        return symbol
    body = symbol[2:].removeprefix("L")
    parts: list[str] = []
    nested = _NESTED.match(body)
    is_nested = nested is not None
    at = nested.end() if nested else 0
    while at < len(body):
        at = _past_template(body, at) if body[at] == "I" and parts else at
        match = _LENGTH.match(body, at)
        if match is None:
            break
        stop = match.end() + int(match.group())
        parts.append(body[match.end() : stop])
        at = stop
        if not is_nested:
            break
    is_whole = bool(parts) and at <= len(body) and all(parts)
    named = ("(anonymous)" if part.startswith("_GLOBAL__N") else part for part in parts)
    return "::".join(named) if is_whole else symbol


def _past_template(body: str, at: int) -> int:
    """Position after the template arguments that begin at `at`."""
    depth = 0
    while at < len(body):
        if literal := _LITERAL.match(body, at):
            at = literal.end()
            continue
        if name := _LENGTH.match(body, at):
            at = name.end() + int(name.group())
            continue
        depth += (body[at] in "INXJF") - (body[at] == "E")
        at += 1
        if depth == 0:
            break
    return at


class TextEnum(IntEnum):
    """Numbers with a text: members are written as pairs of both."""

    text: str

    def __new__(cls, number: int, text: str = "") -> Self:
        """Make a member."""
        member = int.__new__(cls, number)
        member._value_, member.text = number, text
        return member
