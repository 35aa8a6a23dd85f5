"""Every error class survives the way through a pipe, with its sentence, hint and detail."""

import importlib
import pickle
import pkgutil

import pytest

import rcv_py.base.errors
import rcv_py.work
from rcv_py.analysis.counters.formula.parser import FormulaError, FormulaKind
from rcv_py.api.errors import MissingPackage, NoColumn, NoRow, TooLarge, UnequalColumns
from rcv_py.base.errors import BrokenFile, Cancelled, MissingFile, NotATrace, RcvError
from rcv_py.work.pool import CallTimedOut

for module in pkgutil.iter_modules(rcv_py.work.__path__):
    importlib.import_module(f"rcv_py.work.{module.name}")

OWN_SENTENCE = {
    NotATrace: ("/some/folder",),
    BrokenFile: ("code.json", "it ends in the middle", "JSONDecodeError(…)"),
    MissingFile: ("code.json",),
    CallTimedOut: (300.0,),
    NoColumn: ("stal", ("stall", "idle")),
    NoRow: (7, 3),
    UnequalColumns: ("tokens", (3, 4)),
    TooLarge: ("tokens", 1e9),
    MissingPackage: ("A data frame", "pandas", "pandas"),
    FormulaError: (FormulaKind.PARSE, "A bracket is not closed.", 3, 4),
}


def family(kind):
    return [kind, *(heir for child in kind.__subclasses__() for heir in family(child))]


def example(kind):
    if kind in OWN_SENTENCE:
        return kind(*OWN_SENTENCE[kind])
    try:
        return kind()
    except TypeError:
        return kind("Something happened.", hint="Do this.", detail="0x1")


@pytest.mark.parametrize("kind", family(RcvError), ids=lambda kind: kind.__name__)
def test_an_error_survives_pickling(kind):
    error = example(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("kind", family(RcvError), ids=lambda kind: kind.__name__)
def test_an_error_is_a_sentence(kind):
    text = str(example(kind))
    assert text.endswith(".")
    assert "Errno" not in text


def test_cancelled_is_an_rcv_error():
    assert isinstance(Cancelled(), RcvError)
