"""The longest common subsequence of two sequences of keys, and the heaviest increasing subsequence.

The subsequence is exact and needs a few machine words a key: bit j of an integer says whether the subsequence
does *not* grow at key j of the second sequence, and one addition updates all bits at once.

```
keys      a b c a        after `a`   0 1 1 1     a zero is a place where the subsequence grows
against   c a b a        after `c`   0 1 0 1     walking back from the end meets a pair wherever a zero
                                                 was not there one key earlier
```
"""

from collections import Counter
from collections.abc import Sequence

MAX_BITS = 400_000_000  # product of both lengths; above it only keys that occur once are paired

Pairs = list[tuple[int, int]]


def common(a: Sequence[int], b: Sequence[int]) -> Pairs:
    """Return the indices (into a, into b) of a longest common subsequence, ascending in both."""
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    inner_a, inner_b = a[head : len(a) - tail], b[head : len(b) - tail]
    find = _exact if len(inner_a) * len(inner_b) <= MAX_BITS else _by_unique_keys
    inside = [(i + head, j + head) for i, j in find(inner_a, inner_b)]
    after = [(len(a) - k, len(b) - k) for k in range(tail, 0, -1)]
    return [*((i, i) for i in range(head)), *inside, *after]


def heaviest_rising(values: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Return the indices of the strictly increasing subsequence of `values` with the largest weight."""
    rank = {value: at + 1 for at, value in enumerate(sorted(set(values)))}
    best: list[tuple[int, int]] = [(0, -1)] * (len(rank) + 1)  # Fenwick tree: (weight, index of its end)
    before, top = [-1] * len(values), (0, -1)
    for place, (value, weight) in enumerate(zip(values, weights, strict=True)):
        heaviest, at = (0, -1), rank[value] - 1
        while at > 0:
            heaviest, at = max(heaviest, best[at]), at & (at - 1)
        before[place] = heaviest[1]
        reached, at = (heaviest[0] + weight, place), rank[value]
        top = max(top, reached)
        while at < len(best):
            best[at], at = max(best[at], reached), at + (at & -at)
    place, backwards = top[1], []
    while place >= 0:
        backwards.append(place)
        place = before[place]
    return backwards[::-1]


def _exact(a: Sequence[int], b: Sequence[int]) -> Pairs:
    if not a or not b:
        return []
    places: dict[int, int] = {}
    for j, key in enumerate(b):
        places[key] = places.get(key, 0) | 1 << j
    full = (1 << len(b)) - 1
    rows = [full]
    for key in a:
        old = rows[-1]
        grown = old & places.get(key, 0)
        rows.append(((old + grown) | (old - grown)) & full)
    pairs, i, j = [], len(a), len(b)
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _by_unique_keys(a: Sequence[int], b: Sequence[int]) -> Pairs:
    """Return pairs of keys that occur once in each sequence, in increasing order."""
    once_a = {key for key, n in Counter(a).items() if n == 1}
    once_b = {key for key, n in Counter(b).items() if n == 1}
    place = {key: j for j, key in enumerate(b) if key in once_b}
    pairs = [(i, place[key]) for i, key in enumerate(a) if key in once_a and key in place]
    return [pairs[at] for at in heaviest_rising([j for _, j in pairs], [1] * len(pairs))]
