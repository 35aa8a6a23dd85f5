"""The user's options for raw captures, and the executor that decodes their files."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.text import Message
from rcv_py.formats.input.run_places import SOURCE_MAP
from rcv_py.formats.uiout.local_sources import rule_of
from rcv_py.model.trace import Trace

if TYPE_CHECKING:  # its import takes 3 ms, and most captures are not raw
    from concurrent.futures import Executor

DECODERS = ("auto", "own", "official")
AUTO, OWN, OFFICIAL = DECODERS
Jobs = Callable[[list[int]], "AbstractContextManager[Executor]"]
"""Gives an executor for files of the given sizes in bytes."""
Early = Callable[[Trace], None]
"""Is shown the beginning of a capture, as a trace of its own."""
# Names in the environment, which processes inherit.
DECODER_NAME = "RCV_DECODER"
KERNEL_NAME, TARGET_NAME = "RCV_KERNEL", "RCV_TARGET"


class RawOptions(NamedTuple):
    """How raw captures are read."""

    decoder: str = AUTO  # of DECODERS; auto is ours
    library: str = ""  # path of the official decoder, "" for its usual places
    source_map: tuple[tuple[str, str], ...] = ()  # path prefixes, and their replacements on this machine
    kernel: str = ""  # of a compiled file: symbol or name, or a part of it; "" for all
    target: str = ""  # of a compiled file, such as `gfx942`; "" for all


class OfficialMissing(RcvError):
    """There is no decoder of AMD's to be found, or it cannot be loaded."""


def chosen() -> RawOptions:
    """Return the options from the environment of this process; raise UsageError for invalid values."""
    rules = os.environ.get(SOURCE_MAP, "").split("\n")
    decoder = os.environ.get(DECODER_NAME) or AUTO
    if decoder not in DECODERS:
        hint = Message("There are: {0}.", ", ".join(DECODERS))
        raise UsageError(Message("There is no decoder {0}.", decoder), hint=hint)
    return RawOptions(
        decoder=decoder,
        source_map=tuple(rule_of(rule) for rule in rules if rule.strip()),
        kernel=os.environ.get(KERNEL_NAME, ""),
        target=os.environ.get(TARGET_NAME, ""),
    )


@contextmanager
def choosing(
    decoder: str | None = None,
    source_map: Sequence[str] | None = None,
    kernel: str | None = None,
    target: str | None = None,
) -> Iterator[None]:
    """Set options for `chosen` in the block and in processes started in it; None changes nothing."""
    said = {DECODER_NAME: decoder, KERNEL_NAME: kernel, TARGET_NAME: target}
    said[SOURCE_MAP] = "\n".join(source_map or ())
    before = {name: os.environ.get(name) for name in said}
    os.environ.update({name: value for name, value in said.items() if value})
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
