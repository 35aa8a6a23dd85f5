"""The menu of an execution in a time view."""

from collections.abc import Callable

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.base.manifest import panel_for
from rcv_py.base.text import Message, plural
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import copy_text

Action = tuple[str, Callable[[], None]]  # title, what it does


def token_actions(
    session: Session, trace: Trace, wave: TracedWave, row: int, front: Callable[[str], object]
) -> list[Action]:
    """Return actions for the token at a row of a wave; `front` brings a panel to the front."""
    line = int(wave.tokens.line[row])

    def then(action: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            session.select_token(wave.id, row, stays=True)
            action()

        return run

    def measure() -> None:
        session.measure_from()
        front(panel_for("range"))

    if not 0 <= line < len(trace.code):
        return []
    actions: list[Action] = [
        ("Copy the instruction", lambda: copy_text(trace.code.text[line])),
        (Message("Go to instruction {0}", line), then(lambda: front(panel_for("instruction")))),
    ]
    if chain := trace.code.chain(line):
        place = place_text(trace.sources, *chain[0])
        actions.append((Message("Go to {0}", place), then(lambda: front(panel_for("source line")))))
    asked = session.between.value
    if asked is not None and asked.last is None:
        actions.append((Message("Measure to here, from instruction {0}", asked.first), then(lambda: None)))
    hits = wave.executions(line)
    first, last = (wave.tokens.span(int(hits.rows[at])) for at in (0, -1))
    every = TimeWindow(first.begin, last.end).padded(0.02)
    return [
        *actions,
        ("Measure from here", then(measure)),
        ("Bookmark", then(session.toggle_bookmark)),
        (
            Message("Show all {0} of it in this wave", plural(len(hits), "execution")),
            then(lambda: session.set_view(every)),
        ),
    ]
