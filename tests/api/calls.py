"""Every table and analysis of a capture, as calls."""

from collections.abc import Callable, Iterator

from rcv_py.api import Capture, RcvError, Table

CALLS: dict[str, Callable[[Capture], Table]] = {
    **{
        name: lambda capture, name=name: getattr(capture, name)
        for name in ("code", "waves", "sources", "occupancy", "events", "counters", "problems")
    },
    **{
        name: lambda capture, name=name: getattr(capture, name)()
        for name in (
            *("tokens", "states", "waits", "summary", "samples", "wait_costs", "wait_producers"),
            *("wait_latency", "bubbles", "occupancy_limits", "counter_numbers", "triage", "check"),
            *("registers", "load_order", "roofline", "schedules", "memory_accesses", "code_fetches"),
            "lane_addresses",
        )
    },
    **{
        f"{name} {word}": lambda capture, name=name, word=word: getattr(capture, name)(word)
        for name, words in {
            "hotspot": ("instruction", "source", "kind", "class"),
            "isa": ("instructions", "blocks", "branches"),
            "flame": ("source", "kernel", "markers", "both"),
            "causes": ("cause", "instruction", "producer", "each"),
            "loops": ("loops", "iterations", "phases", "first", "distance", "chains", "barriers", "segments"),
            "hidden_latency": ("ours", "reference"),
            "memory_latency": ("ours", "reference"),
            "occupancy_numbers": ("se", "kernel", "state"),
            "occupancy_curves": ("se", "kernel", "state"),
        }.items()
        for word in words
    },
    "line": lambda capture: capture.line(0),
    "instruction_help": lambda capture: capture.instruction_help("v_"),
    "compare": lambda capture: capture.compare(capture, "source"),
    "compare work": lambda capture: capture.compare(capture, "work"),
}


def every_call(capture: Capture) -> Iterator[tuple[str, Table]]:
    """Yield each answer; what a capture cannot tell has to be a sentence."""
    for name, call in CALLS.items():
        try:
            yield name, call(capture)
        except RcvError as refusal:
            assert str(refusal).endswith("."), name  # noqa: PT017 - most calls do not raise


def call_all(capture: Capture) -> list[str]:
    """The calls that a capture with waves and code did not answer, those about markers aside."""
    answered = {name for name, _ in every_call(capture)}
    return sorted(set(CALLS) - answered - {"flame markers", "flame both"})
