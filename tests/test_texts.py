"""Texts enter widgets in one place: the raw calls of Qt that take text for HTML are used nowhere else."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from tests.house import Module, modules, read

THE_PLACE = "ui.core.plain_text"

FORBIDDEN = {  # names of Qt that show HTML or may
    "QLabel", "QToolTip", "QMessageBox", "QErrorMessage", "QWhatsThis", "QTextEdit", "QTextBrowser",
    "QGraphicsTextItem", "QStaticText", "TextItem", "LabelItem", "QSplashScreen", "QProgressDialog",
    "QInputDialog", "QWizard",
}  # fmt: skip
MAY_USE = {
    ("ui.widgets.links", "QTextBrowser"): "LinkText shows Rich alone and loads nothing",
    ("ui.widgets.links", "setHtml"): "LinkText shows Rich alone and loads nothing",
    (
        "ui.shell.dialogs.docs_dialog",
        "QTextBrowser",
    ): "shows Markdown of the program, follows no link by itself",
    ("features.counters.formula_dialog", "QTextEdit"): "the type of marked places; it shows nothing",
}
TRANSLATED = {"button_text", "shown", "tooltip", "translated", "rich", "joined", "lines_tip"}
SAID = {  # which argument a reader sees or hears
    "setAccessibleName": 0, "setAccessibleDescription": 0, "setToolTip": 0, "setStatusTip": 0,
    "setPlaceholderText": 0, "showMessage": 0, "setSuffix": 0, "QPushButton": 0, "QCheckBox": 0, "QMenu": 0,
    "QAction": 0, "QRadioButton": 0, "QGroupBox": 0, "addAction": 0, "addMenu": 0, "addTab": 1,
    "setWindowTitle": 0, "addButton": 0,
}  # fmt: skip
SAID_BY_NAME = {"placeholderText", "toolTip", "windowTitle", "accessibleName"}
_WORDS = re.compile(r"[A-Za-z]{2}")
MADE_SAFE = {"tooltip", "rich", "joined", "lines_tip", "escaped"}
NAMED_SAFE = {"button_text", "shown", "tooltip"}
TIPS = {"setToolTip", "setWhatsThis", "setStatusTip", "setToolTipDuration"}
TITLES = {  # which argument is the text
    "QAction": 0, "QPushButton": 0, "QCheckBox": 0, "QRadioButton": 0, "QGroupBox": 0, "addAction": 0,
    "addMenu": 0, "addTab": 1, "setTabText": 1, "setWindowTitle": 0,
}  # fmt: skip
OUR_WORDS = {  # texts that no capture has a part in
    ("ui.shell.menus", "QAction"): "titles of the table of commands",
    ("ui.shell.menus", "addMenu"): "names of the menus",
    ("ui.shell.menus", "addAction"): "an action, not a text",
    ("ui.shell.toolbar", "addAction"): "an action, not a text",
    ("ui.shell.menu_commands", "addAction"): "an action, not a text; names go through button_text",
    ("features.isa.panel", "addAction"): "titles and keys of the folds",
    ("features.isa.panel", "addMenu"): "names of a table of the module",
    ("ui.core.panel", "addAction"): "a constant of the module",
    ("ui.table.filter_menu", "addAction"): "titles of groups of choices",
    ("features.counters.formula_dialog", "QPushButton"): "titles of a table of the module",
    ("features.counters.formula_dialog", "setWindowTitle"): "a constant of the module",
}
LOOKED_AT = (ast.Call, ast.ClassDef, ast.Attribute, ast.If, ast.IfExp, ast.Dict)  # all that rules are about
_TAG = re.compile(r"(?<!\?)(?<!\?P)<(?:/?[a-z][a-z0-9]*\b[^>]*>|!)|&(?:nbsp|lt|gt|amp);", re.IGNORECASE)


def is_constant(node: ast.expr) -> bool:
    """Whether a text is written down in the program."""
    if isinstance(node, ast.IfExp):
        return is_constant(node.body) and is_constant(node.orelse)
    return isinstance(node, ast.Constant)


def is_made_by(node: ast.expr, makers: set[str]) -> bool:
    if isinstance(node, ast.IfExp):
        return all(is_constant(one) or is_made_by(one, makers) for one in (node.body, node.orelse))
    return isinstance(node, ast.Call) and name_of(node.func) in makers


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_plain_markup(node: ast.expr) -> bool:
    """Whether a text written down is not markup that a tooltip would take for rich."""
    return not any(isinstance(one, ast.Constant) and _TAG.search(str(one.value)) for one in ast.walk(node))


def is_fine(node: ast.expr, makers: set[str]) -> bool:
    if is_made_by(node, {"translated"}) and isinstance(node, ast.Call):
        return is_fine(node.args[0], makers)
    return (is_constant(node) and is_plain_markup(node)) or is_made_by(node, makers)


def faults(known: Mapping[str, Module]) -> Iterator[str]:
    """Every use of a raw call in the window's modules, as `module:line: what`."""
    for module in known.values():
        if module.name.startswith("ui") and module.name != THE_PLACE:
            yield from faults_of(module)


def faults_of(module: Module) -> Iterator[str]:
    file = module.name
    has_tips = "ToolTipRole" in module.text
    for node in module.nodes:
        if not isinstance(node, LOOKED_AT):
            continue
        for fault in (
            *raw_names(file, node),
            *raw_tips(node),
            *raw_titles(file, node),
            *raw_words(node),
            *(raw_models(node) if has_tips else ()),
            *raw_paint(node),
        ):
            yield f"{file}:{getattr(node, 'lineno', 0)}: {fault}"
    yield from raw_markup(file, module.nodes)


def raw_names(file: str, node: ast.AST) -> Iterator[str]:
    """A class of Qt made or built upon; a name in an annotation is none."""
    used = [node.func] if isinstance(node, ast.Call) else node.bases if isinstance(node, ast.ClassDef) else []
    if isinstance(node, ast.Attribute) and name_of(node.value) in FORBIDDEN:
        used = [node.value]
    for name in map(name_of, used):
        if name in FORBIDDEN and (file, name) not in MAY_USE:
            yield f"{name} outside of plain_text.py"
        is_empty = name == "Rich" and not getattr(node, "args", ())
        if name in ("setHtml", "Rich") and not is_empty and (file, name) not in MAY_USE:
            yield f"{name} outside of plain_text.py"


def raw_tips(node: ast.AST) -> Iterator[str]:
    """A tooltip that is neither written down nor made safe."""
    if not isinstance(node, ast.Call):
        return
    name = name_of(node.func)
    if name in TIPS and node.args and not is_fine(node.args[-1], MADE_SAFE | {"shown"}):
        yield f"{name} of a raw text"
    if name == "setItemData" and "ToolTipRole" in ast.unparse(node) and not is_fine(node.args[1], MADE_SAFE):
        yield "a tooltip of an item that is a raw text"
    texts = [] if name != "setLabel" else node.args[1:]
    if any(not is_fine(one, MADE_SAFE) for one in texts):
        yield "an axis of pyqtgraph, which takes HTML, of a raw text"
    for word in node.keywords:
        if word.arg in ("toolTip", "whatsThis", "statusTip") and not is_fine(word.value, MADE_SAFE):
            yield f"{word.arg}= of a raw text"


def raw_titles(file: str, node: ast.AST) -> Iterator[str]:
    """The text of a button, a menu or a title that is neither written down nor made safe."""
    if not isinstance(node, ast.Call):
        return
    name = name_of(node.func)
    if name in TITLES and len(node.args) > TITLES[name] and (file, name) not in OUR_WORDS:
        text = node.args[TITLES[name]]
        is_title = isinstance(text, ast.JoinedStr) or not is_fine(text, NAMED_SAFE)
        if is_title and "shown(" not in ast.unparse(text) and "visible(" not in ast.unparse(text):
            yield f"{name} of a raw text"


def raw_words(node: ast.AST) -> Iterator[str]:
    """Words of ours that a reader sees or hears, and that are not translated."""
    if not isinstance(node, ast.Call):
        return
    at = SAID.get(name_of(node.func))
    texts = [node.args[at]] if at is not None and len(node.args) > at else []
    texts += [word.value for word in node.keywords if word.arg in SAID_BY_NAME]
    if any(map(has_words, texts)):
        yield f"{name_of(node.func)} of words that are not translated"


def has_words(node: ast.expr) -> bool:
    """Whether a text written down has words, and stands in no call that translates it."""
    if isinstance(node, ast.Call):
        return name_of(node.func) not in TRANSLATED and any(map(has_words, node.args))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _WORDS.search(node.value) is not None
    return any(has_words(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))


def raw_models(node: ast.AST) -> Iterator[str]:
    """A model that answers ToolTipRole with a raw text."""
    for role, answer in answers(node):
        if "ToolTipRole" in ast.unparse(role) and not is_fine(answer, MADE_SAFE):
            yield "ToolTipRole answered with a raw text"


def answers(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is asked for, and what is given back: of `if`, of a choice, and of a dictionary."""
    if isinstance(node, ast.If):
        for one in node.body:
            if isinstance(one, ast.Return) and one.value is not None:
                yield node.test, one.value
    elif isinstance(node, ast.IfExp):
        yield node.test, node.body
    elif isinstance(node, ast.Dict):
        yield from (
            (key, value.body if isinstance(value, ast.Lambda) else value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        )


def raw_markup(file: str, nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Markup that is not the template of `rich` or `joined`, so that something may stand in it unescaped."""
    if file == "ui.core.theme":
        return
    mended = {
        id(one)
        for node in nodes
        if isinstance(node, ast.Call) and name_of(node.func) in ("rich", "joined") and node.args
        for one in [node.args[0]]
        if isinstance(one, ast.Constant)
    }
    documented = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and _TAG.search(node.value) and id(node) not in mended | documented:
            yield f"{file}:{node.lineno}: markup that `rich` does not make: {node.value[:40]!r}"


def raw_paint(node: ast.AST) -> Iterator[str]:
    """A text painted as it is: a painter shows right-to-left overrides and escapes; `draw_text` does not."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "drawText":
        yield "drawText outside of plain_text.py"


def test_texts_enter_widgets_in_one_place() -> None:
    found = list(faults(modules()))
    assert not found, "\n".join(found)


PLANTED = {
    "label = QLabel(name)": "QLabel",
    "class Label(QLabel):\n    pass": "QLabel",
    "label.setToolTip(path)": "setToolTip",
    "label.setToolTip(f'{path}')": "setToolTip",
    "label.setToolTip(tooltip(path) if path else path)": "setToolTip",
    "view.setHtml(text)": "setHtml",
    "QMessageBox.question(self, 'x', text)": "QMessageBox",
    "QToolTip.showText(place, text)": "QToolTip",
    "button = QPushButton(path.name)": "QPushButton",
    "menu.addAction(path.name)": "addAction",
    "button = QToolButton(toolTip=path)": "toolTip=",
    "def data():\n    if role == Qt.ToolTipRole:\n        return path": "ToolTipRole",
    "text = f'<b>{name}</b>'": "markup",
    "text = '<b>' + name": "markup",
    "text = rich(f'<b>{name}</b>')": "markup",
    "text = Rich(name)": "Rich",
    "plot.setLabel('left', unit)": "axis",
    "box.setItemData(1, path, Qt.ItemDataRole.ToolTipRole)": "item",
    "painter.drawText(0, 0, name)": "drawText",
    "button = QPushButton('Save')": "not translated",
    "view.setAccessibleName('Rows' if rows else '')": "not translated",
    "view.setAccessibleName(f'Rows of {name}')": "not translated",
    "field = QLineEdit(placeholderText='Find')": "not translated",
}


def test_each_planted_fault_is_found() -> None:
    for code, what in PLANTED.items():
        assert what in "\n".join(faults(read({"ui.planted": code}))), code


def test_no_exception_is_left_over() -> None:
    for name, what in (*MAY_USE, *OUR_WORDS):
        assert re.search(rf"\b{what}\b", modules()[name].text), (name, what)
