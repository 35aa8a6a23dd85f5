"""The words that a kernel writes before a memory instruction: EXEC, and the address of each lane.

They are those of `copy_columns`: its loads lie side by side, its stores a row apart, and it reads a column of
LDS.  Every fourth wave has 48 columns: its other lanes are off, and their words are no addresses.
"""

LANES = 64
PITCH = 1024  # bytes of a row of the matrices
_SOURCE, _RESULT = 0x7F3C_4000_0000, 0x7F3C_8000_0000
_TILE, _TILE_ROW = 0x4000, 256  # bytes of LDS
_GARBAGE = 0xDEAD_BEE0_0000_0001

# Number of the marker: kind of the access, words of a lane, and the source line that it is for.
BLOCKS = {1: ("load", 2, 10), 2: ("lds_store", 1, 10), 3: ("lds_load", 1, 11), 4: ("store", 2, 11)}


def active_lanes(wave: int) -> int:
    """Return the active lanes of a wave by its number in the workgroup."""
    return 48 if wave % 4 == 3 else LANES


def lane_address(kind: str, wave: int, row: int, lane: int) -> int:
    """Return the address that a lane accesses in an iteration of the loop."""
    return {
        "load": _SOURCE + row * PITCH + 4 * (LANES * wave + lane),
        "store": _RESULT + (LANES * wave + lane) * PITCH + 4 * row,
        "lds_store": _TILE * wave + _TILE_ROW * row + 4 * lane,
        "lds_load": _TILE * wave + _TILE_ROW * lane + 4 * row,
    }[kind]


def block_words(kind: str, wave: int, row: int) -> list[int]:
    """Return the words of a block after its header: EXEC, then a word or two a lane."""
    active = active_lanes(wave)
    mask = (1 << active) - 1
    words = [mask & 0xFFFFFFFF, mask >> 32]
    for lane in range(LANES):
        address = lane_address(kind, wave, row, lane) if lane < active else _GARBAGE
        words += [address & 0xFFFFFFFF] if kind.startswith("lds") else [address & 0xFFFFFFFF, address >> 32]
    return words
