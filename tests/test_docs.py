"""The documentation says what the code does."""

import re
import sys
from pathlib import Path

import pytest

from rcv_py import __version__
from rcv_py.base.settings import OPTIONS
from rcv_py.cli.options.commands import COMMANDS
from tests.support.programs import finished

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])


def test_the_written_references_are_up_to_date() -> None:
    done = finished([sys.executable, "packaging/reference.py", "--check"])
    assert done.returncode == 0, f"run `make docs`: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    lost = [link for link in links if not (page.parent / link).exists()]
    assert not lost


def slug(heading: str) -> str:
    """The anchor that GitHub, and the site, give to a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_are_headings(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)#:]*\.md)?#([^)]*)\)", page.read_text()):
        target = page.parent / link if link else page
        assert anchor in anchors(target), f"{link}#{anchor}"


def test_the_site_has_every_page_and_pictures_are_there() -> None:
    site = (ROOT / "mkdocs.yml").read_text()
    listed = re.findall(r"([\w/-]+\.md)$", site.partition("\nnav:")[2], re.MULTILINE)
    made = {"changelog.md"}  # packaging/site_hooks.py
    assert sorted(listed) == sorted(made | {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")})
    assert len(set(listed)) == len(listed)
    assert "strict: true" in site
    assert "font: false" in site, "nothing is fetched from elsewhere"


def test_every_option_and_command_is_explained() -> None:
    settings = (ROOT / "docs" / "settings.md").read_text()
    commands = (ROOT / "docs" / "commands.md").read_text()
    assert all(f"`{option.name}`" in settings for option in OPTIONS)
    assert all(f"## rcv {name}" in commands for name in COMMANDS)


def test_the_changelog_knows_this_version() -> None:
    assert f"\n## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_dependency_has_a_reason() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    section = (
        project.split("dependencies = [")[1].split("]")[0] + project.split("window = [")[1].split("]")[0]
    )
    reasons = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    for name in re.findall(r'"([A-Za-z0-9-]+)', section):
        assert f"`{name}`" in reasons, name
