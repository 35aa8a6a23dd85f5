"""Languages of the texts: the list, the choice, and the catalogue of each.

A catalogue is `resources/texts/zh_CN/LC_MESSAGES/rcv.mo`, compiled from the `rcv.po` beside it.  It is read
when its language is chosen, and never for English.  A text that it lacks stays English.
"""

from gettext import GNUTranslations, NullTranslations, translation

from rcv_py.base.errors import UsageError
from rcv_py.base.resources import resource
from rcv_py.base.text import Message, speak

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh_CN": "简体中文"}  # by the name that --language takes


class Catalogue(GNUTranslations):
    """Translations by English text; capitals do not matter, nor do outer spaces."""

    def gettext(self, message: str) -> str:
        """Return the translation of a text, the text itself if there is none."""
        inner = message.strip()
        if not inner:
            return super().gettext(message) if message else ""
        for text in dict.fromkeys((message, inner, inner[0].swapcase() + inner[1:], inner.lower())):
            found = super().gettext(text)
            # A word that is the same in the language keeps its capitals.
            if found is not text and (found != text or text is message):
                return found if text is message else message.replace(inner, found, 1)
        return message


def language_named(name: str) -> str:
    """Return the language named by `zh_CN`, `zh-cn`, `zh_CN.UTF-8`, `zh` or `en`; UsageError for others."""
    wanted = name.partition(".")[0].replace("-", "_").casefold()
    for known in LANGUAGES:
        if wanted in (known.casefold(), known.casefold().partition("_")[0]):
            return known
    hint = Message("Languages: {0}.", ", ".join(LANGUAGES))
    raise UsageError(Message("There is no language {0!r}.", name), hint=hint)


def language_of_system(locale: str) -> str:
    """Return the language for a system with this locale, such as `zh_CN`."""
    try:
        return language_named(locale)
    except UsageError:
        return ENGLISH


def use(language: str) -> None:
    """Show texts in a language from now on."""
    speak(None if language == ENGLISH else catalogue(language), language)


def catalogue(language: str) -> NullTranslations:
    """Return the catalogue of a language; an empty one if it is not installed."""
    return translation("rcv", resource("texts"), [language], Catalogue, fallback=True)
