"""The order in which the C++ library that the reference viewer is built with leaves equal elements.

`std::sort` keeps no order among equals, but what it does is fixed: median-of-three partitions down to runs
of 16, then one insertion sort.  Only comparisons with the reference viewer need it.
"""

from collections.abc import Sequence

_RUN = 16


def introsorted(weight: Sequence[int]) -> list[int]:
    """Return the places of `weight` from the largest to the smallest as libstdc++ 4.7 and later sorts them.

    Its fallback to a heap after too many bad partitions is left out: ordinary data never reaches it.
    """
    items = list(range(len(weight)))
    _partitions(items, weight, 0, len(items))
    for at in range(1, len(items)):
        _insert(items, weight, at)
    return items


def _insert(items: list[int], weight: Sequence[int], at: int) -> None:
    item = items[at]
    while at > 0 and weight[item] > weight[items[at - 1]]:
        items[at] = items[at - 1]
        at -= 1
    items[at] = item


def _partitions(items: list[int], weight: Sequence[int], first: int, last: int) -> None:
    while last - first > _RUN:
        _median_to_front(items, weight, first, last)
        cut = _partition(items, weight, first, last)
        _partitions(items, weight, cut, last)
        last = cut


def _median_to_front(items: list[int], weight: Sequence[int], first: int, last: int) -> None:
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    at = _median(items, weight, (a, b, c) if weight[items[a]] > weight[items[b]] else (b, a, c))
    items[first], items[at] = items[at], items[first]


def _median(items: list[int], weight: Sequence[int], places: tuple[int, int, int]) -> int:
    """Return the place of the middle weight; the first weight is not below the second."""
    large, small, other = places
    if weight[items[small]] > weight[items[other]]:
        return small
    return other if weight[items[large]] > weight[items[other]] else large


def _partition(items: list[int], weight: Sequence[int], first: int, last: int) -> int:
    """Move what is larger than the first element to the front; return where the rest begins."""
    pivot, low, high = weight[items[first]], first + 1, last
    while True:
        while weight[items[low]] > pivot:
            low += 1
        high -= 1
        while pivot > weight[items[high]]:
            high -= 1
        if low >= high:
            return low
        items[low], items[high] = items[high], items[low]
        low += 1
