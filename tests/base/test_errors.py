"""Every error class survives the way through a pipe, with its sentence, hint and detail."""

import importlib
import pickle
import pkgutil

import pytest

import rcv_py.base.errors
import rcv_py.work
from rcv_py.analysis.counters.formula.parser import FormulaError, FormulaKind
from rcv_py.api.errors import MissingPackage, NoColumn, NoRow, TooLarge, UnequalColumns
from rcv_py.base.errors import BrokenFile, Cancelled, ClosedFile, MissingFile, NotATrace, RcvError
from rcv_py.work.pool import CallTimedOut

OWN_SENTENCE = {
    NotATrace: ("/some/folder",),
    BrokenFile: ("code.json", "it ends in the middle", "JSONDecodeError(…)"),
    MissingFile: ("code.json",),
    ClosedFile: ("code.json",),
    CallTimedOut: (300.0,),
    NoColumn: ("stal", ("stall", "idle")),
    NoRow: (7, 3),
    UnequalColumns: ("tokens", (3, 4)),
    TooLarge: ("tokens", 1e9),
    MissingPackage: ("A data frame", "pandas", "pandas"),
    FormulaError: (FormulaKind.PARSE, "A bracket is not closed.", 3, 4),
}


@pytest.fixture(scope="module")
def kinds():
    """Every class of errors; modules that define some are imported here, which takes long."""
    for module in pkgutil.iter_modules(rcv_py.work.__path__):
        importlib.import_module(f"rcv_py.work.{module.name}")
    found = family(RcvError)
    assert len(found) > 15
    return found


def family(kind):
    return [kind, *(heir for child in kind.__subclasses__() for heir in family(child))]


def example(kind):
    if kind in OWN_SENTENCE:
        return kind(*OWN_SENTENCE[kind])
    try:
        return kind()
    except TypeError:
        return kind("Something happened.", hint="Do this.", detail="0x1")


def test_an_error_survives_pickling(kinds):
    for kind in kinds:
        error = example(kind)
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind
        assert str(again) == str(error)
        assert vars(again) == vars(error), kind


def test_an_error_is_a_sentence(kinds):
    for kind in kinds:
        text = str(example(kind))
        assert text.endswith("."), kind
        assert "Errno" not in text, kind


def test_cancelled_is_an_rcv_error():
    assert isinstance(Cancelled(), RcvError)
