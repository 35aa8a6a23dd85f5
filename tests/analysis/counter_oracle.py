"""Counters replayed one instruction after the other, with a list a counter: slow, and plain to see right.

It shares with the product which counters an instruction touches, and nothing of how waits are resolved.
"""

from collections.abc import Sequence

from rcv_py.analysis.waits.waitcnt.generations import UNORDERED, CounterEffect

Rows = list[tuple[int, str, list[int]]]  # (position of the wait, counter, positions it released)


def by_hardware(effects: Sequence[CounterEffect]) -> Rows:
    """What waits release where operations of one kind come back in order and others do not."""
    queues: dict[str, list[tuple[int, str]]] = {}
    returned: set[int] = set()
    rows: Rows = []
    for position, effect in enumerate(effects):
        for counter, kind in effect.raises:
            queues.setdefault(counter, []).append((position, kind))
        for counter, left in sorted(effect.waits, key=lambda wait: wait[0] == "x"):
            queue = queues.get(counter, [])
            kinds = {kind for _, kind in queue}
            if left and (len(kinds) > 1 or kinds & set(UNORDERED)):
                continue
            done = [item for item, _ in queue[: max(0, len(queue) - left)]]
            del queue[: len(done)]
            if counter == "x":
                done = [item for item in done if item not in returned]
            else:
                returned.update(done)
            if done:
                rows.append((position, counter, list(dict.fromkeys(done))))
    return rows
