"""Transition: what moved to tests/real/captures.py and tests/support/paths.py."""

from tests.real.captures import *  # noqa: F403
from tests.real.captures import ROOT, SHARED  # noqa: F401
