"""The rule of tests/analysis/test_instruction_help.py on real captures."""

from rcv_py.formats.open import open_trace
from tests.analysis.test_instruction_help import test_something_is_known_of_every_mnemonic  # noqa: F401
from tests.real import captures
from tests.support.fixtures import fixture_of_each

code = fixture_of_each(lambda name: open_trace(captures.trace_path(name)).code, captures.TRACES)
