"""A strict reader for the little YAML that an input file of rocprofv3 needs: refuses whatever is doubtful."""

import json
import re
from typing import Any

_KEY = re.compile(r"([a-z_]+): (.+)")
_WORDS = {"true": True, "false": False}
_RESERVED = {"yes", "no", "on", "off", "null", "y", "n", "true", "false"}


def jobs(text: str) -> list[dict[str, Any]]:
    """Return the jobs of a file of `jobs:` and flat mappings; raise ValueError otherwise."""
    bad = [letter for letter in text if not letter.isprintable() and letter != "\n"]
    if bad or not text.endswith("\n"):
        raise ValueError(f"unprintable {bad!r}, or no end of line")
    rows = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not rows or rows.pop(0) != "jobs:":
        raise ValueError("no jobs")
    found: list[dict[str, Any]] = []
    for row in rows:
        if row.startswith("  - "):
            found.append({})
        elif not row.startswith("    ") or not found:
            raise ValueError(f"indentation of {row!r}")
        match = _KEY.fullmatch(row[4:])
        if match is None or match[1] in found[-1]:
            raise ValueError(f"no new key in {row!r}")
        found[-1][match[1]] = _value(match[2])
    return found


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"0|[1-9]\d*", text):
        return int(text)
    if re.fullmatch(r"\[[a-z]+(, [a-z]+)*\]", text) and not _RESERVED & set(text[1:-1].split(", ")):
        return text[1:-1].split(", ")
    if text.startswith('"'):
        return json.loads(text)  # double-quoted YAML and JSON agree on backslashes and quotes
    raise ValueError(f"{text!r} must be quoted")
