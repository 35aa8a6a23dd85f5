"""Languages of the texts: the list, the choice, and the lookup of a text in a catalogue.

A catalogue is `resources/texts/zh_CN.json`: English text, with `{0}`, `{1}` for inserted values, and its
translation.  It is read when its language is chosen, and never for English.

A text is looked up as a whole, then as a template with inserted values, which are looked up in turn, then in
parts: lines, sentences, and parts between our separators.  The result with the fewest English words wins.
Matching never backtracks, and the work for a text is bounded: untrusted texts come here as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rcv_py.base.errors import UsageError
from rcv_py.base.resources import resource
from rcv_py.base.text import speak

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh_CN": "简体中文"}  # by the name that --language takes
MAX_LENGTH = 4_000  # letters of a text that is looked up
MAX_TRIES = 1_500  # parts of a text that are looked up, and templates that are compared
MANY = 4  # commas of a list
MAX_SENTENCES = 8  # of a text that are each tried even if the others used up all tries
MAX_DEPTH = 6  # parts of parts
MAX_SPACES = 12  # of a text that is looked up as two adjacent texts
MAX_DEPTH_ADJACENT = 3
LONG = 16  # letters of a template so specific that hardly another fits
WEAK = 6  # letters of a template so unspecific that all its values must be known

_EAST = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")
_PLACE = re.compile(r"\{[^{}\s]*\}")
_WORD = re.compile(r"[A-Za-z]{2}")
_LETTERS = re.compile(r"[A-Za-z]+")
_LONE_WORD = re.compile(r"(?<![\w{}])[A-Za-z]+(?![\w{}])")  # of a template: no value can be a part of it
_PLAIN = re.compile(r"[A-Za-z]?[a-z]+(?:['’-][a-z]+)*")  # a word of a sentence, and no name
_OPERANDS = frozenset(
    ("exec", "glc", "idxen", "nt", "nv", "off", "offen", "offset", "scc", "slc", "vcc")
)  # no English
_SEAM = re.compile(r"[A-Za-z0-9%)][\u4e00-\u9fff]|[\u4e00-\u9fff][A-Za-z0-9]")
_GAP = re.compile(r"[\u4e00-\u9fff；，：] [\u4e00-\u9fff]")
_EDGES = "，。：；（）、？()[]{}<>\"'“”‘’`.,:;!?…|"
_SENTENCE_END = re.compile(r"(?<=[.!?…])(?<!e\.g\.)(?<!i\.e\.) +(?=[A-Z0-9`])")
_NUMBER = re.compile(r"[-−+~<≤≥×]?[\d.,]+(?:[ \u00a0]%)?")
_COUNT = re.compile(r"\{0\} [a-z]+(?: [a-z]+){0,2}")
_BRACKETED = re.compile(r"([^()]*)\(([^()]*)\)([.:,;]?)")
_SEPARATORS = (  # between parts that are looked up one by one, and their translations
    (" – ", " – "), (" — ", " — "), (" ← ", " ← "),
    (" → ", " → "), (" | ", " | "), (": ", "："), (", ", "，"), (" / ", " / "),
    (" and ", "和"), (" or ", "或"),
)  # fmt: skip
_ONCE = {": ": 1}  # the rest may contain more of them
_MIDDLE = " ,;:)"  # no sentence begins with these
_BESIDE = ("\t", " · ", "  ")
_ENDS = {".": "。", ":": "：", " …": " …", "…": "…", "?": "？", ",": "，", ";": "；"}


def language_named(name: str) -> str:
    """Return the language named by `zh_CN`, `zh-cn`, `zh_CN.UTF-8`, `zh` or `en`; UsageError for others."""
    wanted = name.partition(".")[0].replace("-", "_").casefold()
    for known in LANGUAGES:
        if wanted in (known.casefold(), known.casefold().partition("_")[0]):
            return known
    raise UsageError(f"There is no language {name!r}.", hint=f"Languages: {', '.join(LANGUAGES)}.")


def language_of_system(locale: str) -> str:
    """Return the language for a system with this locale, such as `zh_CN`."""
    try:
        return language_named(locale)
    except UsageError:
        return ENGLISH


def use(language: str) -> None:
    """Show texts in a language from now on."""
    speak(None if language == ENGLISH else Catalogue(language, entries(language)))


def entries(language: str) -> dict[str, str]:
    """Return the contents of the catalogue of a language; empty if it is not installed."""
    path = resource(f"texts/{language}.json")
    return {} if path is None else json.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Template:
    """A text with placeholders: the pieces between them, and the pieces of the translation."""

    pieces: tuple[str, ...]  # one more than placeholders
    places: tuple[str, ...]
    shown: tuple[str, ...]  # pieces and placeholders alternate, a piece first
    letters: int  # of the pieces
    words: int  # of the pieces
    is_count: bool  # `{0} waves`

    @property
    def is_weak(self) -> bool:
        """Whether it is so unspecific that any text fits."""
        return self.letters < WEAK and not self.pieces[0].endswith(": ")

    def may_make(self, text: str) -> bool:
        """Whether a text begins and ends like the template."""
        return text.endswith(self.pieces[-1]) and _begins(text, self.pieces[0])

    def values(self, text: str) -> dict[str, str] | None:
        """Return the values at the placeholders, each as short as possible; None without a match."""
        first, *others = self.pieces
        at, found = len(first), {}
        for number, piece in enumerate(others):
            is_last = number == len(others) - 1
            stop = len(text) - len(piece) if is_last else text.find(piece, at)
            if stop < at or (is_last and not text.endswith(piece)):
                return None
            found[self.places[number]] = text[at:stop]
            at = stop + len(piece)
        return found


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation, and the number of English words left in it."""

    text: str
    left: int


class Catalogue:
    """Texts in another language, by their English text."""

    def __init__(self, name: str, texts: Mapping[str, str]) -> None:
        self.name = name
        self._whole: dict[str, str] = {}
        self._templates: dict[str, list[Template]] = {}  # by the longest word of each
        for english, other in texts.items():
            self._add(english, other)
        self.translated = lru_cache(maxsize=1 << 14)(self._translated)

    def exactly(self, text: str) -> str:
        """Return the translation of exactly this text, which may have placeholders; itself if unknown."""
        return self._whole.get(text, text)

    def whole(self, text: str) -> str | None:
        """Return the translation of a text without outer spaces, None if it is not known as a whole."""
        found = self._whole.get(text)
        return self._whole.get(text.casefold()) if found is None else found

    def templates(self, text: str) -> list[Template]:
        """Return the templates that may match a text, the most specific first."""
        words = {word.casefold() for word in _LETTERS.findall(text)}
        found = (one for word in words for one in self._templates.get(word, ()) if one.may_make(text))
        return sorted(found, key=_letters)

    def _translated(self, text: str) -> str:
        if len(text) > MAX_LENGTH or _WORD.search(text) is None or self._is_translated(text):
            return text
        return _LookUp(self).best(text, 0).text

    def _is_translated(self, text: str) -> bool:
        """Whether a text has characters of the language, and English only in words that it keeps."""
        return _EAST.search(text) is not None and all(
            self.whole(word) == word for word in map(_bare, text.split()) if _is_word(word)
        )

    def _add(self, english: str, other: str) -> None:
        key, value = english.strip(), other.strip()
        self._whole[key] = value
        self._whole.setdefault(key.casefold(), value)
        if key[-1:] in (".", ":"):
            self._whole.setdefault(key[:-1].casefold(), value.rstrip("。："))
        if _PLACE.search(key):
            self._add_template(key, value)
        # A part that begins or ends in the middle of a sentence is appended, or prepended, to another text.
        before = "{<}" if english[:1] in _MIDDLE and english[:2] != "  " else ""
        after = "{>}" if english[-1:] in " (" and english[-2:] != "  " else ""
        if (before or after) and " " in key:
            self._add_template(f"{before}{english}{after}", f"{before}{other}{after}")

    def _add_template(self, english: str, other: str) -> None:
        pieces, lone = _PLACE.split(english), _LONE_WORD.findall(english)
        words = [word for piece in pieces for word in _LETTERS.findall(piece)]
        if not lone:
            return
        template = Template(
            pieces=tuple(pieces),
            places=tuple(_PLACE.findall(english)),
            shown=tuple(_turns(other)),
            letters=sum(map(len, words)),
            words=len(words),
            is_count=_COUNT.fullmatch(english) is not None,
        )
        self._templates.setdefault(max(lone, key=len).casefold(), []).append(template)


class _LookUp:
    """Looks one text up; keeps the parts that were looked up and the remaining tries."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[str, tuple[Translation, int]] = {}  # and the depth at which it was looked up
        self._tries = MAX_TRIES

    def best(self, text: str, depth: int) -> Translation:
        """Return the translation of a text or of a part of it; outer spaces stay."""
        inner = text.strip()
        found, known_at = self._known.get(inner, (Translation(inner, 1), MAX_DEPTH + 1))
        if known_at > depth and found.left:  # fewer tries at greater depth
            found = self._of(inner, depth)
            self._known[inner] = found, depth
        at = text.find(inner)
        return Translation(text[:at] + found.text + text[at + len(inner) :], found.left)

    def _of(self, text: str, depth: int) -> Translation:
        whole = self._catalogue.whole(text)
        words = _words_left(text)
        self._tries -= 1
        if whole is not None:
            return Translation(whole, 0)
        if not words or depth >= MAX_DEPTH or self._tries <= 0:
            return Translation(text, words)
        best = Translation(text, words)
        sure = self._of_known, self._of_long_template, self._lines, self._apart, self._labelled
        parts = self._sentences, self._ended, self._clauses, self._list, self._numbered, self._bracketed
        rest = self._of_template, self._parts, self._of_weak_template, self._beside
        for way in (*sure, *parts, *rest):
            found = way(text, depth + 1) if best.left else None
            if found is not None and found.left < best.left:
                best = found
        return best

    def _of_known(self, text: str, depth: int) -> Translation | None:
        """The translation by a template, with values that are known as a whole or need not be."""
        for template in self._catalogue.templates(text):
            values = {} if template.is_weak else template.values(text) or {}
            self._tries -= bool(values)
            if values and all(map(self._is_known, values.values())):
                return self._made(text, depth, [template])
        return None

    def _is_known(self, value: str) -> bool:
        return self._catalogue.whole(value.strip()) is not None or not _words_left(value)

    def _of_long_template(self, text: str, depth: int) -> Translation | None:
        return self._made(
            text, depth, [one for one in self._catalogue.templates(text) if one.letters >= LONG]
        )

    def _of_template(self, text: str, depth: int) -> Translation | None:
        return self._made(text, depth, [one for one in self._catalogue.templates(text) if not one.is_weak])

    def _of_weak_template(self, text: str, depth: int) -> Translation | None:
        return self._made(text, depth, [one for one in self._catalogue.templates(text) if one.is_weak])

    def _made(self, text: str, depth: int, templates: list[Template]) -> Translation | None:
        best: Translation | None = None
        for template in templates:
            self._tries -= 1
            values = template.values(text) if self._tries > 0 else None
            if values is None or (template.is_count and not _is_count(values[template.places[0]])):
                continue
            found = {
                place: self._value(values[place], before, depth)
                for place, before in zip(template.places, template.pieces, strict=False)
            }
            left = sum(one.left for one in found.values())
            if left and (template.is_weak or left > template.words):
                continue  # most of it would stay unknown
            if best is None or left < best.left:
                pieces = (found[piece].text if piece in found else piece for piece in template.shown)
                best = Translation(_spaced(pieces), left)
            if not left:
                break
        return best

    def _value(self, value: str, before: str, depth: int) -> Translation:
        """The translation of a value: `--{0}` is the name of an option, “{0}” may be the user's input."""
        found = Translation(value, 0) if before.endswith("-") else self.best(value, depth)
        return Translation(found.text, 0) if before.endswith("“") else found

    def _lines(self, text: str, depth: int) -> Translation | None:
        return self._joined(text.split("\n"), "\n", depth) if "\n" in text else None

    def _sentences(self, text: str, depth: int) -> Translation | None:
        sentences = _SENTENCE_END.split(text)
        if len(sentences) == 1:
            return None
        found: list[Translation] = []
        at = 0
        while at < len(sentences):  # sentences that the program shows together are known together
            groups = (" ".join(sentences[at:stop]) for stop in range(len(sentences), at + 1, -1))
            text = next((one for one in groups if self._catalogue.whole(one) is not None), sentences[at])
            if len(found) < MAX_SENTENCES:
                self._tries = max(self._tries, MAX_TRIES // 2)  # the others leave it some
            found.append(self.best(text, depth))
            at += len(_SENTENCE_END.split(text))
        shown = "".join(one.text + ("" if one.text.endswith("。") else " ") for one in found)
        return Translation(shown.rstrip(), sum(one.left for one in found))

    def _apart(self, text: str, depth: int) -> Translation | None:
        """Parts that are independent of each other."""
        separator = next((one for one in _BESIDE if one in text), None)
        return None if separator is None else self._joined(text.split(separator), separator, depth)

    def _labelled(self, text: str, depth: int) -> Translation | None:
        """A known word or two before a colon, and the text after it."""
        label, colon, rest = text.partition(": ")
        if not colon or self._catalogue.whole(label) is None:
            return None
        return self._joined([label, rest], "：", depth)

    def _clauses(self, text: str, depth: int) -> Translation | None:
        return self._joined(text.split("; "), "；", depth) if "; " in text else None

    def _ended(self, text: str, depth: int) -> Translation | None:
        """A text that is known without its final punctuation."""
        end = next((end for end in _ENDS if text.endswith(end) and text != end), None)
        if end is None:
            return None
        found = self.best(text.removesuffix(end), depth)
        return Translation(found.text + _ENDS[end], found.left)

    def _parts(self, text: str, depth: int) -> Translation | None:
        """Parts of a sentence, if all of them are known."""
        for separator, shown in _SEPARATORS:
            if separator in text:
                parts = text.split(separator, _ONCE.get(separator, -1))
                found = self._listed(parts, depth) if shown == "，" else self._joined(parts, shown, depth)
                if not found.left:
                    return found
        return None

    def _list(self, text: str, depth: int) -> Translation | None:
        """More between commas than a sentence has."""
        return self._listed(text.split(", "), depth) if text.count(", ") >= MANY else None

    def _numbered(self, text: str, depth: int) -> Translation | None:
        """A name followed by a number."""
        name, _, number = text.removesuffix(" %").rpartition(" ")
        number += text[len(name) + 1 + len(number) :]
        if not name or name.count(", ") > 1 or _NUMBER.fullmatch(number) is None:
            return None
        found = self.best(name, depth)
        return Translation(f"{found.text} {number}", found.left)

    def _bracketed(self, text: str, depth: int) -> Translation | None:
        found = _BRACKETED.fullmatch(text)
        if found is None:
            return None
        before, inner, after = found.groups()
        outer, within = self.best(before.rstrip(), depth), self.best(inner, depth)
        space = before[len(before.rstrip()) :]
        opened, closed = (f"{space}(", ")") if within.text.isascii() else ("（", "）")
        text = f"{outer.text}{opened}{within.text}{closed}{_ENDS.get(after, after)}"
        return Translation(text, outer.left + within.left)

    def _beside(self, text: str, depth: int) -> Translation | None:
        """Two known texts with a space between them."""
        spaces = [at for at, letter in enumerate(text) if letter == " "]
        if len(spaces) > MAX_SPACES or depth > MAX_DEPTH_ADJACENT:
            return None
        for at in reversed(spaces):
            found = self._joined([text[:at], text[at + 1 :]], " ", depth)
            if not found.left:
                return found
        return None

    def _joined(self, parts: list[str], between: str, depth: int) -> Translation:
        found = [self.best(part, depth) for part in parts]
        shown = [piece for one in found for piece in (between, one.text)][1:]
        return Translation(_spaced(shown), sum(one.left for one in found))

    def _listed(self, parts: list[str], depth: int) -> Translation:
        """Parts between commas; one part may itself contain a comma."""
        found: list[Translation] = []
        alone = ""  # the part before, if it was looked up alone
        for part in parts:
            one = self.best(part, depth)
            both = self.best(f"{alone}, {part}", depth) if one.left and alone else one
            if both.left < one.left:
                found[-1:], alone = [both], ""
            else:
                found.append(one)
                alone = part
        return Translation("，".join(one.text for one in found), sum(one.left for one in found))


def _spaced(pieces: Iterable[str]) -> str:
    """Join pieces: a space between a Chinese and a Latin word, none between two Chinese words."""
    text = ""
    for piece in filter(None, pieces):
        if _SEAM.fullmatch(text[-1:] + piece[:1]):
            text += " "
        elif _GAP.fullmatch(text[-2:] + piece[:1]):
            text = text[:-1]
        text += piece[1:] if _GAP.fullmatch(text[-1:] + piece[:2]) else piece
    return text


def _letters(template: Template) -> int:
    """Sort key of templates: the most specific first."""
    return -template.letters


def _begins(text: str, piece: str) -> bool:
    """Whether the text begins with the piece, ignoring a capital first letter of a sentence."""
    if text.startswith(piece):
        return True
    return piece[:1].swapcase() == text[:1] and text.startswith(piece[1:], 1) and bool(piece)


def _is_count(value: str) -> bool:
    """Whether a value can precede a counted noun: a number, or one word."""
    return " " not in value or any(letter.isdigit() for letter in value)


def _turns(other: str) -> list[str]:
    """Pieces and placeholders in alternation."""
    pieces, places = _PLACE.split(other), _PLACE.findall(other)
    return [one for pair in zip(pieces, [*places, ""], strict=True) for one in pair]


def _words_left(text: str) -> int:
    """Number of words of a text that are neither names nor numbers."""
    return sum(_is_word(word) for word in map(_bare, text.split()))


def _bare(word: str) -> str:
    return word.strip(_EDGES)


def _is_word(word: str) -> bool:
    return len(word) > 1 and word not in _OPERANDS and _PLAIN.fullmatch(word) is not None
