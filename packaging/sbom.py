"""Write the parts of a build as CycloneDX, and the texts of their licences.

Usage: sbom.py [--out FILE] [--licences FOLDER] [--frozen FOLDER] [--extra NAME …]

The parts are rcv, the packages that it needs by the metadata of this environment (with the extras named, or
with window and fast), what these need, Python, Qt, and the font; of a frozen FOLDER also the libraries of the
system that it holds, by their Debian packages.  The same environment gives the same file.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from types import MappingProxyType
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).resolve().parents[1]
FONT_VERSION = re.compile(r"JetBrains Mono (\d[\d.]*\d)")
LICENCE_FILE = re.compile(r"(^|[-_./])(licen[cs]e|copying|notice|copyright)", re.IGNORECASE)
NEED = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?[^;]*(?:;(.*))?")
WANTED_BY = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
OTHERS = re.compile(r"""(sys_platform|platform_system|python_version|python_full_version|platform_\w+)""")
# By the last part of a classifier of the package index.
CLASSIFIED = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Public Domain": "LicenseRef-public-domain",
    "Python Software Foundation License": "PSF-2.0",
}
# Where a package's metadata has a sentence, or nothing that a program can read.
SPELLED = {
    "pyelftools": "LicenseRef-public-domain",
    "pysimdjson": "MIT",
    "regex": "Apache-2.0 AND CNRI-Python",
    "pyqtgraph": "MIT",
    "llvmlite": "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception",
    "numba": "BSD-2-Clause",
    "rocm-llvm-python": "MIT AND Apache-2.0 WITH LLVM-exception",
    "PySide6_Essentials": "LGPL-3.0-only",
    "shiboken6": "LGPL-3.0-only",
}
# Qt's packages carry no text; Debian has it, and it includes the other.
LGPL = tuple(Path("/usr/share/common-licenses") / name for name in ("LGPL-3", "GPL-3"))


def needed(extras: tuple[str, ...]) -> Iterator[Distribution]:
    """Yield rcv and all packages it needs here with these extras, each once, by name."""
    waiting, seen = [("rcv-py", extras)], {}
    while waiting:
        name, wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in seen:
            continue
        try:
            seen[key] = distribution(name)
        except PackageNotFoundError:  # for another system or Python
            continue
        for text in seen[key].requires or ():
            need = NEED.match(text)
            assert need is not None, text
            extra = WANTED_BY.search(need[2] or "")
            if extra is None or extra[1] in wanted:
                waiting.append((need[1], ()))
    yield from (seen[key] for key in sorted(seen))


def licence(package: Distribution) -> str:
    """Return the licence of a package as an SPDX expression, `NOASSERTION` if nobody says."""
    meta = package.metadata
    if (spelled := SPELLED.get(package.name)) is not None:
        return spelled
    if expression := meta.get("License-Expression"):
        return expression
    classified = [
        CLASSIFIED[last]
        for one in meta.get_all("Classifier") or ()
        if one.startswith("License") and (last := one.rpartition(" :: ")[2]) in CLASSIFIED
    ]
    if classified:
        return " OR ".join(dict.fromkeys(classified))
    text = (meta.get("License") or "").strip()
    return text if re.fullmatch(r"[A-Za-z0-9.+-]{2,30}", text) else "NOASSERTION"


def components(packages: list[Distribution]) -> list[dict[str, object]]:
    """Return all parts beside rcv."""
    parts = [
        {
            "type": "library",
            "bom-ref": _url(package),
            "name": package.name,
            "version": package.version,
            "purl": _url(package),
            "licenses": [{"expression": licence(package)}],
        }
        for package in packages
        if package.name != "rcv-py"
    ]
    parts.append(_part("platform", "Python", platform.python_version(), "PSF-2.0"))
    parts += [
        _part("framework", "Qt", package.version, "LGPL-3.0-only")
        for package in packages
        if package.name == "PySide6_Essentials"
    ]
    fonts = (ROOT / "resources" / "fonts" / "README.md").read_text(encoding="utf-8")
    version = FONT_VERSION.search(fonts)
    assert version is not None
    return [*parts, _part("file", "JetBrains Mono", version[1], "Apache-2.0")]


def _url(package: Distribution) -> str:
    return f"pkg:pypi/{re.sub(r'[-_.]+', '-', package.name).lower()}@{package.version}"


def _part(kind: str, name: str, version: str, terms: str) -> dict[str, object]:
    reference = f"{name.lower().replace(' ', '-')}@{version}"
    return {
        "type": kind,
        "bom-ref": reference,
        "name": name,
        "version": version,
        "licenses": [{"expression": terms}],
    }


def system_packages(frozen: Path) -> dict[str, str]:
    """Return the version of each Debian package whose libraries a frozen folder holds, by name."""
    found = {}
    for library in sorted(frozen.glob("_internal/lib*.so*")):
        if library.is_symlink() or library.name.startswith("libpython"):  # of a package, or named already
            continue
        owners = _said("dpkg", "-S", f"*/{library.name}")
        for name in re.findall(r"^([a-z0-9.+-]+)(?::\w+)?: ", owners, re.MULTILINE)[:1]:
            found[name] = _said("dpkg-query", "-W", "-f", "${Version}", name)
    return found


def _said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def system_part(name: str, version: str) -> dict[str, object]:
    """Return a Debian package as a part; the text of its licence says what its terms are."""
    url = f"pkg:deb/debian/{name}@{version}"
    terms = [{"license": {"name": f"licences/debian/{name}"}}]
    return {
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
        "licenses": terms,
    }


def bill(extras: tuple[str, ...], system: Mapping[str, str] = MappingProxyType({})) -> dict[str, object]:
    """Return the document, CycloneDX 1.6; `system` has the version of each Debian package inside."""
    packages = list(needed(extras))
    own = next(package for package in packages if package.name == "rcv-py")
    parts = components(packages) + [system_part(*one) for one in system.items()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(parts))}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": _url(own),
                "name": "rcv-py",
                "version": own.version,
                "purl": _url(own),
                "licenses": [{"expression": "MIT"}],
            }
        },
        "components": parts,
    }


def write_licences(folder: Path, extras: tuple[str, ...]) -> list[str]:
    """Write a folder a package with its licence texts; return the packages that carry none."""
    without = []
    for package in needed(extras):
        texts = [
            path for path in package.files or () if LICENCE_FILE.search(str(path)) and path.suffix != ".py"
        ]
        found = [file for path in texts if (file := Path(str(path.locate()))).is_file()]
        if package.name == "rcv-py":
            _copy(ROOT / "LICENSE", folder / "rcv-py")
        elif not found and "LGPL-3" in licence(package) and LGPL[0].is_file():
            found = list(LGPL)
        elif not found:
            without.append(package.name)
        for path in found:
            _copy(path, folder / package.name)
    _copy(ROOT / "resources" / "fonts" / "LICENSE-JetBrainsMono.txt", folder / "JetBrains-Mono")
    return without


def _copy(file: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / file.name
    number = 2
    while target.exists() and target.read_bytes() != file.read_bytes():
        target = folder / f"{file.stem}-{number}{file.suffix}"
        number += 1
    target.write_bytes(file.read_bytes())


def main() -> int:
    """Write the document, to stdout without --out, and the texts if they are wanted."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path)
    options.add_argument("--licences", type=Path)
    options.add_argument("--frozen", type=Path)
    options.add_argument("--extra", nargs="*", default=["window", "fast"])
    chosen = options.parse_args()
    system = {} if chosen.frozen is None else system_packages(chosen.frozen)
    text = json.dumps(bill(tuple(chosen.extra), system), indent=2) + "\n"
    if chosen.out is None:
        print(text, end="")
    else:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(text, encoding="utf-8")
    if chosen.licences is not None:
        for name in write_licences(chosen.licences, tuple(chosen.extra)):
            print(f"{name} comes without the text of its licence.", file=sys.stderr)
        for name in system:
            terms = Path("/usr/share/doc") / name / "copyright"
            if terms.is_file():
                target = chosen.licences / "debian" / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(terms.read_bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
