"""What lies at the addresses of a stream: as the stream tells, else as waves begin."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from rcv_py.formats.raw import objects as addresses
from rcv_py.formats.raw.objects import MAX_ENTRIES, UNKNOWN, AddressMap, Extent
from rcv_py.formats.sqtt.records import CodeObjectRecord

BASE = 0x7F00_0000_0000
SMALL = Extent(id=1, size=0x3000, entries=(0x1100, 0x1900))
LARGE = Extent(id=2, size=0x8000, entries=(0x1500,))
ALONE = Extent(id=0, size=0x2000, entries=(0x1200,))


def found(where: AddressMap, *addresses: int) -> list[tuple[int, int]]:
    ids, inside = where.find(np.array(addresses, dtype=np.uint64))
    return list(zip(ids.tolist(), inside.tolist(), strict=True))


def entries(*addresses: int) -> np.ndarray:
    return np.array(addresses, dtype=np.uint64)


def told(id: int, address: int, size: int = 0x3000, **more: object) -> CodeObjectRecord:
    return CodeObjectRecord(time=0, id=id, address=address, size=size, **more)  # type: ignore[arg-type]


def address_map(
    records: Sequence[CodeObjectRecord],
    extents: Sequence[Extent],
    begins: np.ndarray,
    fits: Mapping[tuple[int, int], int] | None = None,
) -> AddressMap:
    """The map where code objects, by number and base, explain so many tokens, none by default."""
    return addresses.address_map(
        records, extents, begins, lambda _, load: (fits or {}).get((load.id, load.base), 0)
    )


def test_a_stream_that_tells_is_believed() -> None:
    where = address_map([told(1, BASE), told(2, BASE + 0x10000, 0x8000)], [SMALL, LARGE], entries(BASE + 7))
    assert not where.is_guessed
    assert found(where, BASE, BASE + 0x2FFF, BASE + 0x3000, BASE + 0x10010) == [
        (1, 0),
        (1, 0x2FFF),
        (UNKNOWN, BASE + 0x3000),
        (2, 0x10),
    ]


def test_of_objects_that_overlap_the_one_that_was_loaded_last_counts() -> None:
    first, second = told(1, BASE), CodeObjectRecord(time=9, id=2, address=BASE + 0x1000, size=0x1000)
    for records in ([first, second], [second, first]):
        where = address_map(records, [], entries())
        assert found(where, BASE + 0xFFF, BASE + 0x1000, BASE + 0x2000) == [(1, 0xFFF), (2, 0), (1, 0x2000)]


def test_an_object_without_a_size_has_that_of_its_file() -> None:
    where = address_map([told(1, BASE, size=0)], [SMALL], entries())
    assert found(where, BASE + 0x2FFF, BASE + 0x3000) == [(1, 0x2FFF), (UNKNOWN, BASE + 0x3000)]


def test_what_is_unloaded_alone_tells_nothing() -> None:
    where = address_map([told(1, BASE, is_unload=True)], [SMALL], entries(BASE + 0x1100))
    assert where.is_guessed


@pytest.mark.parametrize("size", [1 << 63, (1 << 64) - 1])
def test_an_object_may_reach_to_the_end_of_all_addresses(size: int) -> None:
    far = (1 << 64) - 4096
    where = address_map([told(1, far, size)], [], entries())
    assert found(where, far + 16) == [(1, 16)]


def test_kernels_are_found_by_their_place_in_a_page() -> None:
    where = address_map([], [SMALL, LARGE], entries(BASE + 0x1100, BASE + 0x1900, BASE + 0x21500))
    assert where.is_guessed
    assert where.doubts == ()
    assert found(where, BASE + 0x1104, BASE + 0x21508, BASE + 0x40000) == [
        (1, 0x1104),
        (2, 0x1508),
        (UNKNOWN, BASE + 0x40000),
    ]


def test_of_two_objects_that_fit_the_place_counts_that_most_kernels_have() -> None:
    twin = Extent(id=3, size=0x3000, entries=(0x2100, 0x2700))
    where = address_map([], [SMALL, twin], entries(BASE + 0x2100, BASE + 0x2700))
    assert found(where, BASE + 0x2104) == [(3, 0x2104)]
    assert where.doubts == ()


def test_where_two_objects_fit_as_well_that_is_a_doubt() -> None:
    twin = Extent(id=3, size=0x3000, entries=(0x1100,))
    where = address_map([], [SMALL, twin], entries(BASE + 0x1100))
    assert where.doubts == (BASE + 0x1100,)
    assert found(where, BASE + 0x1100) == [(1, 0x1100)]


def test_of_several_kernels_the_one_that_explains_most_tokens_is_taken() -> None:
    twin = Extent(id=3, size=0x4000, entries=(0x1100, 0x2100))
    for fits, place, doubts in (
        ({(1, BASE): 5, (3, BASE): 28, (3, BASE - 0x1000): 27}, (3, 0x1100), 0),
        ({(1, BASE): 5, (3, BASE): 3, (3, BASE - 0x1000): 9}, (3, 0x2100), 0),
        ({(1, BASE): 5, (3, BASE): 5, (3, BASE - 0x1000): 4}, (1, 0x1100), 1),
        ({(1, BASE): 4, (3, BASE): 5, (3, BASE - 0x1000): 5}, (3, 0x1100), 1),
    ):
        where = address_map([], [SMALL, twin], entries(BASE + 0x1100), fits)
        assert found(where, BASE + 0x1100) == [place]
        assert where.doubts == (BASE + 0x1100,) * doubts


def test_tokens_decide_before_the_place_that_most_kernels_have() -> None:
    twin = Extent(id=3, size=0x1400, entries=(0x2100, 0x2700))
    begins = entries(BASE + 0x2100, BASE + 0x2700)
    where = address_map([], [SMALL, twin], begins, {(1, BASE + 0x1000): 7, (3, BASE): 2})
    assert found(where, BASE + 0x2100) == [(1, 0x1100)], "also where another one lies there"


def test_addresses_that_begin_at_zero_are_those_of_object_0() -> None:
    where = address_map([], [ALONE], entries(0))
    assert found(where, 0, 8, 0xE00) == [(0, 0x1200), (0, 0x1208), (UNKNOWN, 0xE00)]


def test_places_outside_of_any_object_and_of_none() -> None:
    assert found(address_map([], [], entries(BASE)), BASE, 0) == [(UNKNOWN, BASE), (UNKNOWN, 0)]
    assert found(address_map([], [SMALL], entries(BASE + 4)), BASE + 4) == [(UNKNOWN, BASE + 4)]
    low = address_map([], [SMALL], entries(0x100))  # its object would begin below 0
    assert found(low, 0x100) == [(UNKNOWN, 0x100)]


def test_of_millions_of_beginnings_some_are_guessed_about() -> None:
    many = np.arange(1, 3 * MAX_ENTRIES, dtype=np.uint64) << np.uint64(12) | np.uint64(0x100)
    where = address_map([], [SMALL], many)
    assert 0 < len(where.loads) <= MAX_ENTRIES
