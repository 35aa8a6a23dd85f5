"""Adds what is no Python to a package: manual page, fonts, icons, samples, pages; more: pyproject.toml."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HOME = Path(__file__).resolve().parent
BUNDLED = (
    "resources",
    "sample_traces",
    "packaging/skill",
)  # beside the package here, inside of it where it is installed


class WithBundled(build_py):
    """Copies folders into the package that is built; a checkout finds them where they are."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "rcv_py" / "bundled"
        for name in BUNDLED:
            shutil.copytree(HOME / name, target / name, dirs_exist_ok=True)
        (target / "docs").mkdir(parents=True, exist_ok=True)
        for page in (HOME / "docs").glob("*.md"):
            shutil.copy(page, target / "docs")


runpy.run_path(str(HOME / "packaging" / "man_page.py"))["write"]()
setup(cmdclass={"build_py": WithBundled})
