"""Small damage to bytes, JSON trees and texts, drawn from a random number generator and nothing else."""

import copy
import random
import re
from typing import Any

TOKENS = (
    *(b"1e3", b"1.0", b"-0", b"-0.0", b"007", b"9223372036854775807", b"9223372036854775808"),
    *(b"18446744073709551616", b"1152921504606846976", b"-1152921504606846976", b"4294967296"),
    *(b"2147483648", b"9" * 40, b"9" * 5000, b"null", b"true", b"false", b'"5"', b"[]", b"{}", b"[[]]"),
    *(b"[1]", b"[1,2]", b" ", b"\n", b"\0", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"\\u0000", b"\\"),
    *(b"\xef\xbb\xbf", b"NaN", b"Infinity", b"-", b"1.", b"1e400", b"1e-2", b"0", b",", b"[", b"]"),
    *(b"{", b"}", b":", b'"', b'"wave":{},', b"../", b"/etc/passwd", b"../outside/secret.json"),
    *(b"\x1b[31m", b"\xe2\x80\xae", b"<img src=x>", b"=1+1", b"(", b"<" * 300, b"[" * 1100),
)
VALUES: tuple[Any, ...] = (
    *(0, -1, 1, 4.5, 1e3, 1e18, 1e300, 2**31, 2**32 - 1, 2**41, 2**53 + 1, 2**60, 2**60 - 1, -(2**60)),
    *(2**63 - 1, 2**63, 2**64 - 1, None, True, "", "5", "é\u202e\x1b", "../outside/secret.json"),
    *("/etc/passwd", "<b>x", "=1", [], {}, [[]], [0], [1, 2], [[1, 2]], {"a": 1}, "a/" * 200),
    *("x" * 3000, "s_waitcnt vmcnt(" + "9" * 30 + ")", "s_cbranch_scc1 65533"),
    *("v_mov_b32 v9999999, v[3:1]", "label_x:", "; _Z3fooIiEvv"),
)
_NUMBER = re.compile(rb"\d+")
_STRUCTURE = b'[]{},:"'


def damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """Some bytes flipped, left out, put in, doubled or swapped, or the end cut off."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        if not found:
            break
        rng.choice(_DAMAGE)(rng, found, _place(rng, found))
    return bytes(found)


def _place(rng: random.Random, data: bytearray) -> int:
    at = rng.randrange(len(data))
    if rng.random() < 0.5:
        near = [place for sign in _STRUCTURE if (place := data.find(sign, at)) >= 0]
        return min(near, default=at)
    return at


def _flip(rng: random.Random, data: bytearray, at: int) -> None:
    data[at] ^= 1 << rng.randrange(8)


def _delete(rng: random.Random, data: bytearray, at: int) -> None:
    del data[at : at + rng.choice((1, 1, 2, 5, 60))]


def _insert(rng: random.Random, data: bytearray, at: int) -> None:
    at += rng.randrange(2)
    data[at:at] = rng.choice(TOKENS)


def _renumber(rng: random.Random, data: bytearray, at: int) -> None:
    found = _NUMBER.search(data, at)
    if found:
        data[found.start() : found.end()] = rng.choice(TOKENS)


def _double(rng: random.Random, data: bytearray, at: int) -> None:
    data[at:at] = data[at : at + rng.choice((3, 20, 200))]


def _swap(rng: random.Random, data: bytearray, at: int) -> None:
    other = rng.randrange(len(data))
    data[at], data[other] = data[other], data[at]


def _cut(rng: random.Random, data: bytearray, at: int) -> None:
    if rng.random() < 0.3:
        del data[at:]


def _replace(rng: random.Random, data: bytearray, at: int) -> None:
    data[at] = rng.choice(b'[]{},:"0 -') if rng.random() < 0.7 else rng.randrange(256)


_DAMAGE = (_flip, _delete, _insert, _renumber, _renumber, _double, _swap, _cut, _replace)


def damaged_tree(rng: random.Random, tree: Any) -> Any:
    """A copy of a JSON value with some values replaced, left out, moved, wrapped or unwrapped."""
    found = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        owner, key = _some_place(rng, found)
        if owner is not None:
            rng.choice(_CHANGES)(rng, owner, key)
    return found


def _some_place(rng: random.Random, tree: Any) -> tuple[Any, Any]:
    """A random way down: the list or dictionary, and the index or key."""
    owner, key, here = None, None, tree
    while isinstance(here, list | dict) and here and (owner is None or rng.random() < 0.75):
        owner = here
        key = rng.randrange(len(here)) if isinstance(here, list) else rng.choice(list(here))
        here = here[key]
    return owner, key


def _set(rng: random.Random, owner: Any, key: Any) -> None:
    owner[key] = copy.deepcopy(rng.choice(VALUES))


def _drop(rng: random.Random, owner: Any, key: Any) -> None:
    del owner[key]


def _wrap(rng: random.Random, owner: Any, key: Any) -> None:
    owner[key] = [owner[key]]


def _unwrap(rng: random.Random, owner: Any, key: Any) -> None:
    if isinstance(owner, list) and isinstance(owner[key], list):
        owner[key : key + 1] = owner[key]


def _repeat(rng: random.Random, owner: Any, key: Any) -> None:
    if isinstance(owner, list):
        owner[key:key] = [copy.deepcopy(owner[key])] * rng.choice((1, 1, 2, 20))


def _rename(rng: random.Random, owner: Any, key: Any) -> None:
    if isinstance(owner, dict):
        owner[rng.choice(("", "0", "7", "-1", "9" * 30, "a", key + "x"))] = owner.pop(key)


def _nudge(rng: random.Random, owner: Any, key: Any) -> None:
    if isinstance(owner[key], int):
        owner[key] += rng.choice((-1, 1, 4, -4, 1 << 20, 1 << 41))


_CHANGES = (_set, _set, _drop, _wrap, _unwrap, _repeat, _rename, _nudge, _nudge)

_PIECES = (
    "0",
    "9" * 30,
    "9" * 5000,
    "0x",
    "-",
    "(",
    ")",
    "[",
    "]",
    "{9}",
    "*",
    "+",
    "?",
    "|",
    "\\",
    ".",
    "^",
    "$",
    ":",
    "@",
    "#",
    "/",
    ",",
    " ",
    "\t",
    "\n",
    "\0",
    "é",
    "\u202e",
    "\x1b",
    "<",
    ">",
    "::",
    ";",
    "//",
    "vmcnt(",
    "s_",
    "v[",
    "se0/simd0",
    "1e999",
    "nan",
    "inf",
    "TIME",
    "sum(",
    "axis=",
    "a" * 3000,
    "²",
    "٣",
)


def damaged_text(rng: random.Random, text: str) -> str:
    """A text with pieces put in, left out or doubled."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(text) + 1)
        stop = at + rng.randrange(6)
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + text[stop:]
        elif kind == 1:
            text = text[:stop] + text[at:]
        else:
            text = text[:at] + rng.choice(_PIECES) + text[at:]
    return text
