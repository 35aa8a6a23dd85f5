"""Build what people install without Python.

Usage: build.py folder|deb|appimage|archive|all [--out DIR] [--again]

folder    one folder with the viewer, Python and Qt (PyInstaller), tried before anything else is made of it
deb       a package for Debian and Ubuntu: the folder below /usr/lib/rcv, `rcv`, manual page, menu, file type
appimage  one file for any Linux with the same or a newer C library
archive   the folder as .tar.gz, on Windows as .zip, on a Mac the application as .zip

The Debian package holds its own Python and packages, because no Debian has all of them: Debian 12 has numpy
1.24 and no PySide6.  So it needs nothing but the C library and libraries of the desktop that Qt looks for,
and one file serves every Debian and Ubuntu that is not older than the machine that built it.

Assumptions.  An environment with `.[window,fast]` and PyInstaller runs this (`make packages` makes one).
What is built runs where the C library is not older than here, and on this kind of processor only.
An AppImage begins with linux/appimage_runtime.c.  Without a C compiler, mksquashfs and the packages of LINKED
the folder that it would be made of stays, and the build says what to install.  For Windows see
windows/build.ps1, for a Mac macos/build.sh.
"""

from __future__ import annotations

import argparse
import gzip
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "packaging"
LINUX = HERE / "linux"
SUFFIX = ".exe" if sys.platform == "win32" else ""
PROCESSORS = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
# What Qt opens by name when a window is shown, so that no list of needed libraries has it.
OPENED = ("libegl1", "libgl1", "libxkbcommon-x11-0", "libxcb-cursor0", "libfontconfig1")
# Debian packages of what is linked into the runtime of an AppImage, and the names that the linker has for it.
LINKED = {
    "libsquashfuse-dev": "-lsquashfuse",
    "libzstd-dev": "-lzstd",
    "liblzma-dev": "-llzma",
    "liblz4-dev": "-llz4",
    "zlib1g-dev": "-lz",
    "libc6-dev": "-lc",
}
TYPE_2 = b"AI\x02"  # at this place in the header of a program: the kernel does not look there
TYPE_AT = 8
MIME_FOLDER = "usr/share/mime/packages"
CONTROL = """\
Package: rcv
Version: {version}
Architecture: {processor}
Maintainer: The authors of rcv <rcv@localhost>
Installed-Size: {size}
Depends: {needs}
Recommends: {wishes}
Section: devel
Priority: optional
Description: viewer and triage tool for AMD GPU thread traces
 Reads what rocprofv3 --att records, decoded or raw: instructions, source
 lines and time in one window, findings with evidence, and commands for
 scripts.  Brings its own Python and Qt, and a disassembler on amd64.
"""


def version() -> str:
    """The version of the program."""
    text = (ROOT / "rcv_py" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    assert found is not None
    return found[1]


def run(*words: str | Path, **more: object) -> str:
    """Run a program; return what it printed; stop if it fails."""
    done = subprocess.run(
        [str(word) for word in words], check=False, stdout=subprocess.PIPE, text=True, **more
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}.")
    return done.stdout


def folder(out: Path) -> Path:
    """Make the folder, complete it, and try it."""
    work = out / "work"
    run(
        *(sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
        *("--distpath", out, "--workpath", work, HERE / "rcv.spec"),
        cwd=ROOT,
    )
    made = out / "rcv"
    # As files, so that no start has to compile them again; whether they changed, nobody has to ask.
    run(
        *(sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
        *("-s", made / "_internal", made / "_internal" / "rcv_py"),
    )
    run(
        *(sys.executable, HERE / "sbom.py", "--out", made / "sbom.cdx.json"),
        *("--licences", made / "licences", "--frozen", made),
    )
    print(run(sys.executable, HERE / "smoke_test.py", made / f"rcv{SUFFIX}"), end="")
    return made


def deb(made: Path, out: Path) -> Path:
    """Make the Debian package of the folder."""
    tree = out / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(made, tree / "usr/lib/rcv", symlinks=True)
    _desktop_files(tree)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/rcv").symlink_to("../lib/rcv/rcv")
    run(sys.executable, HERE / "man_page.py", out / "rcv.1", cwd=ROOT)
    man = tree / "usr/share/man/man1/rcv.1.gz"
    man.parent.mkdir(parents=True)
    man.write_bytes(gzip.compress((out / "rcv.1").read_bytes(), 9, mtime=0))
    papers = tree / "usr/share/doc/rcv"
    papers.mkdir(parents=True)
    shutil.move(tree / "usr/lib/rcv/licences", papers / "licences")
    shutil.move(tree / "usr/lib/rcv/sbom.cdx.json", papers / "sbom.cdx.json")
    shutil.copy(ROOT / "LICENSE", papers / "copyright")
    (papers / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), 9, mtime=0))
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    processor = PROCESSORS[platform.machine()]
    control = tree / "DEBIAN" / "control"
    control.parent.mkdir()
    wishes = "fonts-dejavu-core" + ("" if any(made.rglob("librocmllvm.so")) else ", libllvm22")
    words = {"processor": processor, "size": size >> 10, "needs": ", ".join(needs(made)), "wishes": wishes}
    control.write_text(CONTROL.format(version=version(), **words), encoding="utf-8")
    target = out / f"rcv_{version()}_{processor}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zzstd", "--build", tree, target)
    shutil.rmtree(tree)
    return target


def needs(made: Path) -> list[str]:
    """Return the Debian packages whose libraries the folder asks for and does not hold."""
    held = {path.name for path in made.rglob("*.so*")}
    asked = set().union(*map(asked_libraries, (made / "rcv", *made.rglob("*.so*")))) - held
    packages = set(OPENED)
    for name in sorted(asked):
        found = subprocess.run(
            ["dpkg", "-S", f"*/{name}"], capture_output=True, text=True, check=False
        ).stdout
        packages |= set(re.findall(r"^([a-z0-9.+-]+)(?::\w+)?: ", found, re.MULTILINE))
    libc = run("dpkg-query", "-W", "-f", "${Version}", "libc6")
    packages -= {"libc6", "libc6-dev", "libc6-dbg"}
    return [f"libc6 (>= {libc.partition('-')[0]})", *sorted(packages)]


def asked_libraries(path: Path) -> set[str]:
    """Names of the libraries that a program or a library asks for."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            section = ELFFile(file).get_section_by_name(".dynamic")
            return set() if section is None else {tag.needed for tag in section.iter_tags("DT_NEEDED")}
    except (ELFError, OSError):
        return set()


def _desktop_files(tree: Path) -> None:
    for source, target in (
        (LINUX / "rcv.desktop", "usr/share/applications/rcv.desktop"),
        (LINUX / "rcv.xml", f"{MIME_FOLDER}/rcv.xml"),
        (ROOT / "resources" / "rcv.svg", "usr/share/icons/hicolor/scalable/apps/rcv.svg"),
    ):
        (tree / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, tree / target)


def appimage(made: Path, out: Path) -> Path:
    """Make the AppImage of the folder; without its tools, return the folder that it would be made of."""
    tree = out / "rcv.AppDir"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(made, tree / "usr/lib/rcv", symlinks=True)
    _desktop_files(tree)
    shutil.copy(LINUX / "AppRun", tree / "AppRun")
    (tree / "AppRun").chmod(0o755)
    for name in ("rcv.desktop", "rcv.svg"):
        found = next((tree / "usr/share").rglob(name))
        (tree / name).symlink_to(found.relative_to(tree))
    run(tree / "AppRun", "--version")
    papers = {name: Path("/usr/share/doc") / name / "copyright" for name in LINKED}
    if not all(map(shutil.which, ("cc", "mksquashfs"))) or not all(map(Path.exists, papers.values())):
        print(
            f"{tree} is complete; one file of it needs: apt-get install gcc squashfs-tools {' '.join(LINKED)}"
        )
        return tree
    for name, paper in papers.items():
        (tree / "usr/share/doc/rcv" / name).mkdir(parents=True)
        shutil.copy(paper, tree / "usr/share/doc/rcv" / name)
    runtime, packed = out / "appimage_runtime", out / "rcv.squashfs"
    build_runtime(runtime)
    run("mksquashfs", tree, packed, "-root-owned", "-noappend", "-quiet", "-comp", "zstd")
    target = out / f"rcv-{version()}-{platform.machine()}.AppImage"
    begin = bytearray(runtime.read_bytes())
    begin[TYPE_AT : TYPE_AT + len(TYPE_2)] = TYPE_2
    with target.open("wb") as file, packed.open("rb") as system:
        file.write(begin)
        shutil.copyfileobj(system, file)
    target.chmod(0o755)
    for path in (runtime, packed):
        path.unlink()
    shutil.rmtree(tree)
    return target


def build_runtime(target: Path) -> None:
    """Compile what an AppImage begins with."""
    source = LINUX / "appimage_runtime.c"
    flags = ("-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-D_FILE_OFFSET_BITS=64")
    run("cc", *flags, "-I/usr/include/squashfuse", source, "-o", target, *LINKED.values())


def archive(made: Path, out: Path) -> Path:
    """Pack the folder, or on a Mac the application."""
    name = str(out / f"rcv-{version()}-{sys.platform}-{platform.machine()}")
    what = "rcv.app" if sys.platform == "darwin" else made.name
    if sys.platform == "darwin":  # the one packer there that keeps links and signatures
        run("ditto", "-c", "-k", "--keepParent", out / what, f"{name}.zip")
        return Path(f"{name}.zip")
    return Path(shutil.make_archive(name, "zip" if sys.platform == "win32" else "gztar", out, what))


def main() -> int:
    """Build, and print what was built."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=("folder", "deb", "appimage", "archive", "all"))
    options.add_argument("--out", type=Path, default=ROOT / "build" / "packages")
    options.add_argument("--again", action="store_true", help="take the folder that was made before")
    chosen = options.parse_args()
    out = chosen.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    made = out / "rcv" if chosen.again else folder(out)
    makers: dict[str, Callable[[], Path]] = {
        "deb": lambda: deb(made, out),
        "appimage": lambda: appimage(made, out),
        "archive": lambda: archive(made, out),
    }
    if not sys.platform.startswith("linux"):
        del makers["deb"], makers["appimage"]
    wanted = makers if chosen.what == "all" else {chosen.what} & set(makers)
    print(made, *(makers[name]() for name in makers if name in wanted), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
