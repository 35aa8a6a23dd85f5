"""Import shiboken6 without the modules that explain the signatures of Qt functions.

Signatures serve error messages about wrong arguments, help and stubs. shiboken6 carries the Python modules
that find and write them as text, and compiles and runs them at every start: two thirds of its import time.
Here each module is compiled when a name of it is first used.

After that, one of them runs at every import, in case a module wants names of Qt in another spelling
(`__feature__`), and reads the source of each imported module.  Our modules never use that, so imports bypass
it.
"""

import builtins
import re
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import CodeType
from typing import Any

from rcv_py.tuning import HAS_PLAIN_IMPORTS

TRIED = frozenset((6, minor) for minor in range(8, 13))  # releases
VERSION_FILE = "_git_shiboken_module_version.py"
FOLDER, SUFFIX = "shibokensupport/", ".py"
LATE = frozenset(
    (
        "feature", "signature/errorhandler", "signature/layout", "signature/lib/enum_sig",
        "signature/lib/pyi_generator", "signature/lib/tool", "signature/mapping", "signature/parser",
    )
)  # fmt: skip
STUB = f"import {__name__} as late\nlate.put_off(globals())\n"
_COMPILE = builtins.compile


class _Source(SourceFileLoader):
    """Runs a module as an import would."""

    def __init__(self, text: Any, file: str) -> None:
        super().__init__(file, file)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._text, self.path)


_sources: dict[str, _Source] = {}  # of modules that have not run yet
_running = RLock()


def import_shiboken() -> None:
    """Import shiboken6; only a first import of a known release can be made cheaper."""
    if HAS_PLAIN_IMPORTS or "shiboken6" in sys.modules or not _is_known():
        import_module("shiboken6")
        return
    builtins.compile = _compile
    try:
        import_module("shiboken6")
    finally:
        builtins.compile = _COMPILE
        builtins.__import__ = vars(builtins).pop("__orig_import__", builtins.__import__)


def _is_known() -> bool:
    """Return whether this was tested with the installed release of shiboken6.

    A missing name in another release would end the process at every start.
    """
    spec = find_spec("shiboken6")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        with suppress(OSError, KeyError):
            text = (Path(folder) / VERSION_FILE).read_text(encoding="utf-8")
            found = dict(re.findall(r'^(major|minor)_version = "(\d+)"$', text, re.MULTILINE))
            return (int(found["major"]), int(found["minor"])) in TRIED
    return False


def waiting() -> frozenset[str]:
    """Return the modules of LATE that no code has used yet."""
    return frozenset(name.partition(".")[2].replace(".", "/") for name in _sources)


def _compile(source: Any, filename: Any, mode: str, *rest: Any, **named: Any) -> Any:
    """Compile as `compile` does, but defer the modules that can wait."""
    name = str(filename)
    if not name.startswith(FOLDER) or name.removeprefix(FOLDER).removesuffix(SUFFIX) not in LATE:
        return _COMPILE(source, filename, mode, *rest, **named)
    _sources[name.removesuffix(SUFFIX).replace("/", ".")] = _Source(source, name)
    return _COMPILE(STUB, name, mode)


def put_off(names: dict[str, Any]) -> None:
    """Defer a module with this dictionary until a name that it lacks is used."""
    names["__getattr__"] = partial(_found, names)
    for name, function in MEANWHILE.get(names["__name__"], {}).items():
        names[name] = partial(function, names)


def _ignored(names: dict[str, Any], *arguments: Any, **named: Any) -> None:
    """Do nothing: no module of ours wants other spellings."""


def _updated(names: dict[str, Any]) -> Any:
    _run(names)
    return names[UPDATE]()


UPDATE = "update_mapping"
MEANWHILE = {  # names that shiboken6 takes from dictionaries, where a missing name ends the process
    "shibokensupport.signature.mapping": {UPDATE: _updated},
    "shibokensupport.feature": {"feature_import": _ignored, "feature_imported": _ignored},
}


def _found(names: dict[str, Any], name: str) -> Any:
    if not name.startswith("__"):
        _run(names)
        if name in names:
            return names[name]
    raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")


def _run(names: dict[str, Any]) -> None:
    with _running:
        source = _sources.pop(names["__name__"], None)
        if source is not None:
            source.exec_module(sys.modules[names["__name__"]])
            del names["__getattr__"]
