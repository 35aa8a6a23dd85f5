"""Settings and keys as a file, to keep or to copy to another machine: JSON that users can edit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rcv_py import __version__
from rcv_py.base.errors import UsageError
from rcv_py.base.settings import BY_NAME, OPTIONS
from rcv_py.base.text import Message
from rcv_py.base.whole_files import whole_file
from rcv_py.state.commands import Keys

MAX_BYTES = 1 << 20
MAX_KEYS = 4  # of a command
FORM = "rcv.settings/1"


class SettingsFile(NamedTuple):
    """Valid contents of a file: values by option, keys by command; `rejected` has a sentence for the rest."""

    values: Mapping[str, bool | int | str]
    keys: Keys
    rejected: tuple[str, ...] = ()


def write_settings(path: Path, values: Mapping[str, Any], keys: Keys) -> None:
    """Write the values that differ from the defaults; raise ExportError if the file cannot be written."""
    changed = {
        option.name: values[option.name] for option in OPTIONS if values[option.name] != option.default
    }
    document = {"schema": FORM, "version": __version__, "settings": changed, "keys": keys}
    with whole_file(path) as file:
        file.write((json.dumps(document, indent=2) + "\n").encode())


def read_settings(path: Path) -> SettingsFile:
    """Read such a file; raise UsageError for other files."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            Message("{0} cannot be read: {1}.", path, error.strerror), hint="Choose another file."
        ) from error
    try:
        document = json.loads(data) if len(data) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("schema") != FORM:
        raise UsageError(
            Message("{0} holds no settings of rcv.", path.name),
            hint="Choose a file that Export of the settings wrote.",
        )
    values, rejected = _values(document.get("settings"))
    return SettingsFile(values=values, keys=valid_keys(document.get("keys")), rejected=rejected)


def _values(stored: object) -> tuple[dict[str, bool | int | str], tuple[str, ...]]:
    values: dict[str, bool | int | str] = {}
    rejected = []
    for name, value in stored.items() if isinstance(stored, dict) else ():
        option = BY_NAME.get(name)
        if option is None:
            rejected.append(Message("There is no setting {0}.", name[:60]))
        elif not option.accepts(value):
            rejected.append(Message("The value of {0} does not fit; what was set stays.", name))
        else:
            values[name] = value
    return values, tuple(rejected)


def valid_keys(stored: object) -> dict[str, tuple[str, ...]]:
    """Return the keys of commands in a JSON value; leave out what does not fit."""
    return {
        name: tuple(keys)
        for name, keys in (stored.items() if isinstance(stored, dict) else ())
        if isinstance(keys, list) and len(keys) <= MAX_KEYS and all(isinstance(one, str) for one in keys)
    }
