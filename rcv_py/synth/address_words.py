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


def block_words(kind: str, wave: int, row: int) -> list[int]:
    """Return the words of a block after its header: EXEC, then a word or two a lane.

    `wave` is the number of the wave in its workgroup, `row` the iteration of the loop.
    """
    first, pitch = {  # the address of lane 0, and the bytes from lane to lane
        "load": (_SOURCE + row * PITCH + 4 * LANES * wave, 4),
        "store": (_RESULT + LANES * wave * PITCH + 4 * row, PITCH),
        "lds_store": (_TILE * wave + _TILE_ROW * row, 4),
        "lds_load": (_TILE * wave + 4 * row, _TILE_ROW),
    }[kind]
    active = 48 if wave % 4 == 3 else LANES
    mask, shifts = (1 << active) - 1, (0,) if kind.startswith("lds") else (0, 32)
    addresses = [first + pitch * lane if lane < active else _GARBAGE for lane in range(LANES)]
    words = [address >> shift & 0xFFFFFFFF for address in addresses for shift in shifts]
    return [mask & 0xFFFFFFFF, mask >> 32, *words]
