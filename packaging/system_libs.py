"""Print the Debian packages of the system libraries that Qt asks for and this machine lacks."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGE_OF = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libOpenGL.so.0": "libopengl0",
    "libGLX.so.0": "libglx0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-xinerama.so.0": "libxcb-xinerama0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
NEEDED = (
    "Qt/lib/libQt6Core.so.6",
    "Qt/lib/libQt6Gui.so.6",
    "Qt/lib/libQt6Widgets.so.6",
    "Qt/lib/libQt6Svg.so.6",
    "Qt/plugins/platforms/libqxcb.so",
    "Qt/plugins/platforms/libqoffscreen.so",
    "Qt/plugins/imageformats/libqsvg.so",
)


def missing_libraries(folder: Path) -> set[str]:
    """Names that the dynamic linker cannot find for the parts of Qt we use."""
    found: set[str] = set()
    for name in NEEDED:
        if not (folder / name).exists():
            continue
        listing = subprocess.run(
            ["ldd", str(folder / name)], capture_output=True, text=True, check=False
        ).stdout
        found |= set(re.findall(r"^\s*(\S+) => not found", listing, flags=re.MULTILINE))
    return {name for name in found if not name.startswith(("libQt6", "libicu", "libpyside6", "libshiboken6"))}


def main() -> int:
    """Print one package a line; libraries without a known package are named as they are."""
    spec = find_spec("PySide6")
    if not sys.platform.startswith("linux") or spec is None or spec.origin is None:
        return 0
    names = missing_libraries(Path(spec.origin).parent)
    packages = sorted({PACKAGE_OF.get(name, name) for name in names})
    if packages and "xcb" in " ".join(packages) and not Path("/usr/share/fonts").is_dir():
        packages.append("fonts-dejavu-core")
    print("\n".join(packages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
