"""Which lanes of a wave LDS serves together, and how often it has to: bank conflicts from addresses.

LDS serves a wave in groups of lanes.  A group takes one pass if no two of its lanes want different words of
a bank, else as many as lanes want words of one bank.  Lanes that want the same word share it.

```
ds_read_b32, 32 banks, lanes 0-31
  stride 4    every lane another bank               1 pass
  stride 8    lanes 0 and 16 want bank 0            2 passes
  stride 128  all lanes want bank 0                32 passes
  stride 0    one word for all                      1 pass
```
Sources of the groups, for aligned accesses:

- CDNA 2 and 3: the documentation of Composable Kernel (CK-Tile, LDS bank conflicts), triton-lang/triton
  #9662 and #11365, the AMDGPU kernel optimization guide and its measurements (nod-ai/amd-shark-ai,
  docs/empirical-lds).
- CDNA 4: the same guide and measurements for reads; measurements of HipKittens for ds_read_b96 and
  ds_write_b64; rocRoller's LDSBankModel for the banks: 64 for reads of b64 and b128, 32 for writes and
  ds_read_b96.  For ds_read_b32 rocRoller and the measurements disagree, so it is not known.
- RDNA 3 and 4: the same measurements (W7900, RX 9070 XT); they cover reads.
- Up to 4 bytes: AMD's OpenCL programming guide and the RDNA white paper: 32 lanes, 32 banks.

Not published, so not known: two addresses (ds_read2), atomics, moves between lanes, and what has no row here.
"""

from functools import cache

import numpy as np

from rcv_py.base.record import Value

_BANK = 4  # bytes


def _runs(*starts: int) -> np.ndarray:
    return np.add.outer(np.array(starts, dtype=np.int64), np.arange(4)).ravel()


# (order, whether it reads, bytes of a lane): banks, and the lanes of the first group.  Flipping bits of their
# numbers gives the other groups.
_FIRST: dict[tuple[str, bool, int], tuple[int, np.ndarray]] = {
    ("cdna", True, 8): (32, np.arange(16)),
    ("cdna", False, 8): (32, np.arange(16)),
    ("cdna", True, 16): (32, _runs(0, 20)),
    ("cdna", False, 16): (32, np.arange(8)),
    ("cdna4", False, 4): (32, np.arange(32)),
    ("cdna4", True, 8): (64, np.arange(32)),
    ("cdna4", False, 8): (32, np.arange(16)),
    ("cdna4", True, 12): (32, _runs(0, 20)),
    ("cdna4", True, 16): (64, _runs(0, 12, 20, 24)),
    ("cdna4", False, 16): (32, np.arange(8)),
    ("rdna3", True, 8): (32, np.arange(16)),
    ("rdna3", True, 16): (32, _runs(0, 20)),
    ("rdna4", True, 8): (32, np.arange(16)),
    ("rdna4", True, 16): (32, np.arange(8)),
} | {
    (order, is_read, 4): (32, np.arange(32))
    for order in ("gcn", "cdna", "rdna2", "rdna3", "rdna4")
    for is_read in (True, False)
}


class LdsGroups(Value):
    """The lanes that LDS serves together."""

    banks: int
    lanes: np.ndarray  # int64 [groups, lanes of a group]


@cache
def lds_groups(order: str, width: int, lanes: int, *, is_read: bool) -> LdsGroups | None:
    """Return the groups of a wave of 32 or 64 lanes that each access `width` bytes; None if not known.

    `order` is that of the architecture.
    """
    found = _FIRST.get((order, is_read, max(width, _BANK)))
    if found is None or width < 1:
        return None
    banks, first = found
    groups = {int((first ^ lane).min()): first ^ lane for lane in range(lanes)}
    return LdsGroups(banks, np.stack(list(groups.values())))


def lds_passes(
    address: np.ndarray, is_active: np.ndarray, width: int, groups: LdsGroups
) -> tuple[np.ndarray, np.ndarray]:
    """Return how often LDS serves each execution, and how often without conflicts; int64 [n].

    `address` (int64 bytes, aligned to `width`) and `is_active` (bool) are [n, lanes].
    """
    passes, least = np.zeros((2, len(address)), dtype=np.int64)
    words = np.arange(-(-width // _BANK))
    row = np.arange(len(address))[:, None] * groups.banks
    for lanes in groups.lanes:
        chosen = is_active[:, lanes]
        word = np.where(chosen[..., None], address[:, lanes, None] // _BANK + words, -1)
        word = np.sort(word.reshape(len(address), -1), axis=1)
        is_first = word >= 0  # lanes that want the same word share it
        is_first[:, 1:] &= word[:, 1:] != word[:, :-1]
        bank = (row + word % groups.banks)[is_first]
        wanted = np.bincount(bank, minlength=len(address) * groups.banks)
        passes += wanted.reshape(-1, groups.banks).max(axis=1, initial=0)
        least += chosen.any(axis=1)
    return passes, least
