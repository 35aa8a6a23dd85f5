"""Writes the manual page before a package is built; everything else is in pyproject.toml."""

from __future__ import annotations

import runpy
from pathlib import Path

from setuptools import setup

PAGE = Path(__file__).resolve().parent / "packaging" / "man_page.py"

runpy.run_path(str(PAGE))["write"]()
setup()
