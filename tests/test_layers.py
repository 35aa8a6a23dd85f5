"""Imports point downwards, only the window knows Qt, and features do not know each other."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from tests.house import Module, circles, inner, modules, read
from tests.support.programs import finished

BELOW = ("base", "model", "formats", "analysis", "results")
REPORTED = ("base", "model", "analysis", "results", "features.result", "export")
MAY_IMPORT = {  # layer → layers
    "": ("api",),
    "__main__": ("cli",),
    "base": ("base",),
    "tuning": ("base", "tuning"),
    "model": ("base", "model"),
    "formats": ("tuning", "base", "model", "formats"),
    "analysis": ("base", "model", "analysis"),
    "results": ("base", "model", "analysis", "results"),
    "export": REPORTED,
    "export.interactive": (*REPORTED, "features.report"),
    "features.feature": ("base", "features.options"),
    "features.options": ("base", "model", "cli.options"),
    "features.numbers": ("base", "model", "formats", "analysis"),
    "features.result": ("base", "model", "analysis", "results", "features.numbers", "features.result"),
    "features.report": (*REPORTED, "features.report"),
    "features.command": (
        *BELOW,
        "export",
        "synth",
        "work",
        "state",
        "cli",
        "features.numbers",
        "features.options",
        "features.result",
        "features.command",
    ),
    "features.panel": (*BELOW, "work", "state", "ui", "features.result", "features.panel"),
    "synth": ("base", "model", "formats.derived", "formats.uiout.written", "synth"),
    "work": ("tuning", *BELOW, "work"),
    "state": ("base", "model", "analysis", "state"),
    "ui": ("tuning", *BELOW, "work", "state", "ui"),
    "ui.shell": ("tuning", *BELOW, "export", "work", "state", "ui"),
    "ui.shot": ("base", "model", "formats", "analysis", "work", "state", "ui"),
    "api": (*BELOW, "export", "work", "features.result", "api"),
    "cli": ("tuning", *BELOW, "export", "synth", "work", "state", "cli"),
    "cli.schemas": ("base", "results"),
    "cli.commands.view": ("tuning", "base", "model", "formats", "state", "work", "cli", "ui"),
    "cli.commands.shot": ("tuning", "base", "model", "formats", "state", "work", "cli", "ui"),
}
FLOORS = (  # rooms of a house with floors, the lowest first: a room may use those on floors below
    (
        {"analysis.core", "analysis.counters.formula", "analysis.counters.pmc"},
        {"analysis.program", "analysis.timeline", "analysis.counters", "analysis.waits.waitcnt"},
        {"analysis.events", "analysis.waits", "analysis.waves"},
        {"analysis.attribution", "analysis.device"},
        {"analysis.cost", "analysis.health", "analysis.latency"},
        {"analysis.flame", "analysis.iterations"},
        {"analysis.whatif"},
        {"analysis.compare", "analysis.findings"},
        {"analysis.overview"},
    ),
    (
        {"ui.core"},
        {"ui.widgets"},
        {"ui.table"},
        {"ui.timeline"},
        {"ui.flame", "ui.plot"},
        {"ui.shell.dialogs"},
        {"ui.shell"},
        {"ui"},
    ),
    (
        {"formats.input"},
        {"formats.derived", "formats.sqtt"},
        {"formats.rocpd"},
        {"formats.isa"},
        {"formats.packed", "formats.uiout"},
        {"formats.notes"},
        {"formats.raw"},
        {"formats.listed"},
        {"formats"},
    ),
)
ROLES = (
    "feature",
    "options",
    "result",
    "numbers",
    "command",
    "report",
)  # last words of modules; others are panels
ARROWS = {  # features whose answers another one uses
    "compare": {"flame"},
    "compat": {"hotspot"},
    "counters": {"compat"},
    "hotspot": {"compat", "occupancy", "source"},
    "line": {"latency", "whatif"},
    "loops": {"whatif"},
    "notes": {"isa"},
    "record": {"compare", "findings", "health"},
    "registers": {"occupancy"},
    "summary": {"health", "registers", "waves"},
    "why": {"whatif"},
}
WITH_QT = ("ui", "features.panel", "tuning.pyqtgraph_import")
QT = ("PySide6", "pyqtgraph", "shiboken6")
MOST_LOOSE = 25
ONE_FILE_EACH = ("cli.commands",)  # rooms whose modules are a command each


def within(module: str, layers: tuple[str, ...]) -> bool:
    """Whether the module is one of the layers or inside one."""
    return any(module == layer or module.startswith(layer + ".") for layer in layers)


def placed(module: str) -> str:
    """The name of a module of a feature with its role in front: `features.result.roofline`."""
    top, *inner = module.split(".")
    if top != "features" or len(inner) < 2:
        return module
    role = inner[-1].rpartition("_")[2]
    return ".".join((top, role if role in ROLES else "panel", *inner))


def layer_of(module: str) -> str:
    """The most precise row of the table that the module belongs to."""
    name = placed(module)
    return max((layer for layer in MAY_IMPORT if layer and within(name, (layer,))), key=len, default="")


def climbs(known: Mapping[str, Module]) -> Iterator[str]:
    """Imports that the table of layers forbids."""
    for module in known.values():
        allowed = MAY_IMPORT[layer_of(module.name)]
        for name in inner(module, known):
            if not within(placed(name), allowed):
                yield f"{module.name} imports {name}"
        for name in module.imports:
            if within(name, QT) and not within(placed(module.name), WITH_QT):
                yield f"{module.name} imports {name}"


def stairs(known: Mapping[str, Module]) -> Iterator[str]:
    """Imports of a room on the same floor or above, and modules that lie on no floor."""
    for floors in FLOORS:
        height = {room: at for at, floor in enumerate(floors) for room in floor}
        top = min(height, key=len).partition(".")[0]
        for module in known.values():
            if not within(module.name, (top,)) or module.name == top:
                continue
            here = _floor(module.room, height)
            if here is None:
                yield f"{module.name} is on no floor"
                continue
            for name in inner(module, known):
                there = _floor(known[name].room, height)
                if there is not None and there[0] != here[0] and there[1] >= here[1]:
                    yield f"{module.name} imports {name}"


def _floor(room: str, height: Mapping[str, int]) -> tuple[str, int] | None:
    fitting = [known for known in height if within(room, (known,))]
    best = max(fitting, key=len, default=None)
    return None if best is None else (best, height[best])


def neighbours(known: Mapping[str, Module]) -> Iterator[str]:
    """Features that use another one without a row in the table."""
    for module in known.values():
        top, *parts = module.name.split(".")
        if top != "features" or not parts:
            continue
        for name in inner(module, known):
            other = name.split(".")[1] if within(name, ("features",)) else parts[0]
            if other != parts[0] and other not in ARROWS.get(parts[0], ()):
                yield f"{module.name} imports {name}"


def crowded(known: Mapping[str, Module]) -> Iterator[str]:
    """Rooms with more loose modules than one can keep in the head."""
    count: dict[str, int] = defaultdict(int)
    for module in known.values():
        count[module.room] += not module.is_init
    for room, loose in count.items():
        if loose > MOST_LOOSE and room not in ONE_FILE_EACH:
            yield f"{room}: {loose} modules"


def room_circles(known: Mapping[str, Module]) -> list[list[str]]:
    """Rooms that import each other, directly or through others."""
    arrows: dict[str, set[str]] = defaultdict(set)
    for module in known.values():
        room = _room(module)
        arrows[room] |= {_room(known[name]) for name in inner(module, known)} - {room}
    return circles(arrows)


def _room(module: Module) -> str:
    """The room of a module; in a feature, each role has its own."""
    name = placed(module.name)
    return module.room if name == module.name else name.rpartition(".")[0]


def module_circles(known: Mapping[str, Module]) -> list[list[str]]:
    """Modules that import each other, also only for their types."""
    return circles({name: set(inner(module, known)) - {name} for name, module in known.items()})


RULES = {
    "climbs": climbs,
    "stairs": stairs,
    "neighbours": neighbours,
    "crowded": crowded,
    "room_circles": room_circles,
    "module_circles": module_circles,
}


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps_the_rule(rule: str) -> None:
    assert list(RULES[rule](modules())) == []


PLANTED = {  # rule → (module, the text of it)
    "climbs": ("analysis.core.planted", "from rcv_py.formats.open import open_trace"),
    "stairs": ("analysis.core.planted", "from rcv_py.analysis.cost.ranking import ranking"),
    "neighbours": ("features.roofline.planted", "from rcv_py.features.isa.panel import IsaPanel"),
    "crowded": ("base.planted", ""),
    "room_circles": ("analysis.core.planted", "from rcv_py.analysis.program.blocks import x"),
    "module_circles": (
        "base.planted0",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rcv_py.base.planted1",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_planted_violation_is_found(rule: str) -> None:
    name, text = PLANTED[rule]
    planted = {name: text}
    if rule == "crowded":
        planted |= {f"base.planted{at}": "" for at in range(MOST_LOOSE)}
    if rule == "module_circles":
        planted["base.planted1"] = "from rcv_py.base import planted0"
    known = modules()
    before = list(RULES[rule](known))
    after = list(RULES[rule]({**known, **read(planted, known)}))
    assert len(after) > len(before)
    assert any("planted" in str(one) or "base" in str(one) or "analysis.core" in str(one) for one in after)


@pytest.mark.parametrize("module", ["work.pool", "formats.open", "state.session", "synth"])
def test_everything_below_the_window_starts_without_qt(module: str) -> None:
    code = (
        "import sys\n"
        f"for name in {QT!r}: sys.modules[name] = None\n"
        f"import rcv_py.{module}\n"
        "loaded = [name for name in sys.modules if name.startswith('rcv_py.ui')]\n"
        "assert not loaded, loaded\n"
    )
    done = finished([sys.executable, "-c", code])
    assert done.returncode == 0, done.stderr
