"""Capture folders made by hand: a dictionary of file contents that a test changes before it is written.

The default capture keeps every invariant of real ones: two shader engines, on each two waves one after the
other in one slot of compute unit 1, and a bystander on compute unit 2.  SE 0's clock is 1,000 cycles behind.

```
aligned   2000        2120    2200        2320
SE 0      wv0─────────┘       wv1─────────┘        its own clock: 1000 … 1120, 1200 … 1320
SE 1      wv0─────────┘       wv1─────────┘        its own clock: 2000 … 2120, 2200 … 2320
```
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from rcv_py.base.problems import Problem
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch

Files = dict[str, Any]  # JSON content or bytes by file name
Place = tuple[int, int, int, int]  # SE, SIMD, slot, wave index

HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
LABEL, LOAD, WAIT, MFMA, ADD, BRANCH, STORE, END = range(8)
CODE = (
    "; my_kernel",
    "s_load_dwordx2 s[0:1], s[4:5], 0x0",
    "s_waitcnt lgkmcnt(0)",
    "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
    "v_add_u32_e32 v1, 32, v34",
    "s_cbranch_scc1 65530",
    "global_store_dword v1, v2, s[0:1]",  # never executed
    "s_endpgm",
)
SOURCE = "/src/k.py"
LIFE = 120  # cycles of a wave
# time, category, stall, duration, line; times count from the begin of the wave
TOKENS = (
    (32, 1, 0, 4, LOAD),
    (36, 9, 40, 40, WAIT),
    (76, 6, 8, 12, MFMA),
    (92, 6, 0, 4, ADD),
    (96, 8, 0, 4, BRANCH),
    (100, 11, 0, 20, END),
)
TIMELINE = ([1, 32], [2, 4], [3, 40], [4, 8], [2, 16], [3, 20])
WAITCNT = ([WAIT, [[LOAD, 0]]],)
PLACES: tuple[Place, ...] = ((0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 1))
BEGINS = (1000, 1200, 2000, 2200)
REALTIME = {
    "metadata": {"descriptor": "[gfx_clock, realtime_clock]", "frequency": 100_000_000},
    "SE0": [[1000, 500], [3000, 600]],
    "SE1": [[2000, 500], [4000, 600]],
}


def tokens(begin: int, rows: Sequence[Sequence[int]] = TOKENS) -> list[list[int]]:
    """Tokens as a wave file has them, moved to the begin of the wave."""
    return [[begin + time, *rest] for time, *rest in rows]


def wave(begin: int, place: Place = PLACES[0], **changes: Any) -> dict[str, Any]:
    """The content of a wave file; `changes` replace fields of its inner object."""
    se, simd, slot, number = place
    body = {"cu": 1, "id": number, "simd": simd, "slot": slot, "begin": begin, "end": begin + LIFE}
    body |= {"instructions": tokens(begin), "timeline": list(TIMELINE), "waitcnt": list(WAITCNT)} | changes
    count = len(body["instructions"] or ())
    length = body["end"] - body["begin"]
    return {"name": f"SE{se}", "duration": length, "num_insts": count, "num_stitched": count, "wave": body}


def row(text: str, number: int, *costs: int, source: str | None = "", codeobj: int = 4, at: int = -1) -> list:
    """A row of code.json; `at` is its address, by default 8 bytes a line number."""
    address = at if at >= 0 else 0x1000 + 8 * number
    return [text, 0, number, source, codeobj, address, *(costs or (0, 0, 0, 0))]


def name_of(place: Place) -> str:
    """The name of a wave's file."""
    return "se{}_sm{}_sl{}_wv{}.json".format(*place)


def wave_tree(waves: Mapping[Place, dict[str, Any]]) -> dict[str, Any]:
    """The `wave_filenames` that list these waves."""
    tree: dict[str, Any] = {}
    for place, content in waves.items():
        se, simd, slot, number = map(str, place)
        leaf = tree.setdefault(se, {}).setdefault(simd, {}).setdefault(slot, {})
        leaf[number] = [name_of(place), content["wave"]["begin"], content["wave"]["end"]]
    return tree


def default_waves() -> dict[Place, dict[str, Any]]:
    """The four waves of the default capture."""
    return {place: wave(begin, place) for place, begin in zip(PLACES, BEGINS, strict=True)}


def lives(waves: Mapping[Place, dict[str, Any]], kernel: int = 1) -> dict[str, list[list[int]]]:
    """Occupancy events by shader engine, six columns, of these waves and of a bystander on each engine."""
    events: dict[str, list[list[int]]] = {}
    for (se, simd, slot, _), content in waves.items():
        body = content["wave"]
        mine = events.setdefault(str(se), [])
        mine.append([body["begin"], body["cu"], simd, slot, 1, kernel])
        mine.append([body["end"], body["cu"], simd, slot, 0, kernel])
    for mine in events.values():
        mine += [[mine[0][0] + 40, 2, 3, 5, 1, kernel], [mine[0][0] + 240, 2, 3, 5, 0, kernel]]
        mine.sort(key=lambda event: (event[0], event[4]))
    return events


def code_rows(waves: Mapping[Place, dict[str, Any]]) -> list[list]:
    """The rows of CODE with the sums over the tokens of these waves."""
    sums = [[0, 0, 0, 0] for _ in CODE]
    for content in waves.values():
        last = content["wave"]["begin"]
        for time, _, stall, duration, line in content["wave"]["instructions"] or ():
            gap = max(0, time - last)
            last = max(last, time + duration)
            sums[line] = [
                total + more for total, more in zip(sums[line], (1, duration, stall, gap), strict=True)
            ]
    sources = ["", *(f"{SOURCE}:{line}" for line in range(1, len(CODE)))]
    places = [0x1000, *(0x1000 + 8 * line for line in range(len(CODE) - 1))]
    return [
        row(text, number, *sums[number], source=sources[number], at=places[number])
        for number, text in enumerate(CODE)
    ]


def capture(waves: Mapping[Place, dict[str, Any]] | None = None) -> Files:
    """The files of a whole capture of these waves, by default of `default_waves`."""
    chosen = default_waves() if waves is None else waves
    return {
        "filenames.json": {
            "version": "3.0.0",
            "gfxip": 9,
            "gfxv": "vega",
            "global_begin_time": 0,
            "counter_names": [],
            "wave_filenames": wave_tree(chosen),
        },
        "code.json": {"code": code_rows(chosen), "header": HEADER, "version": "3.0.0"},
        "occupancy.json": {
            **lives(chosen),
            "dispatches": {"0": "0 / 0x0", "1": "my_kernel"},
            "version": "3.0.0",
        },
        "realtime.json": {
            "metadata": REALTIME["metadata"],
            **{f"SE{se}": REALTIME[f"SE{se}"] for se, *_ in chosen if f"SE{se}" in REALTIME},
        },
        "snapshots.json": {"/": {"src": {"k.py": "source_0_k.py"}}},
        "source_0_k.py": b"".join(b"line %d\n" % number for number in range(1, 9)),
        **{name_of(place): content for place, content in chosen.items()},
    }


def every_kind() -> Files:
    """The files of the default capture, and one of every optional kind."""
    files = capture()
    files["filenames.json"] |= {
        "other_simd_filenames": {"0": [["other.json", 0, 9]]},
        "shaderdata_filenames": {"0": [["shader.json", 0, 9]]},
        "counter_names": ["SQ_WAVES", "SQ_BUSY_CYCLES"],
    }
    files["code.json"] |= {
        "kernels": [{"address": 0x1000, "codeobj": 4, "name": "_ZN1a1bIiEEv", "demangled": ""}],
        "sqtt_funcmap": [[1, 2, "F", "_ZN1a1bEv", "/a.py:1"]],
        "sqtt_funcmap_layout": [[1, 8, 4]],
        "sqtt_funcmap_payloads": [[1, 2, 1]],
    }
    files["occupancy.json"]["events"] = {
        "0": [{"type": 7, "payload": 7}, {"kind": "dispatch", "entry_point": {"address": 1}}]
    }
    return files | {
        "se0_perfcounter.json": {"data": [[1010 + 8 * i, 1, 2, 3, 4, 1, 0] for i in range(6)]},
        "spm.json": {"C": {"values": {"0": {"0": [[1, 2]]}}}},
        "wstates1.json": {"name": "wstates1.json", "time": [1, 2], "state": [1, 0]},
        "shader.json": {"records_schema": ["time"], "records": [[1001, 6, 3, 1, 0, 0]]},
        "other.json": {"wgp": 3, "instructions": [[1001, 2, 3]]},
    }


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write the files (bytes as they are, all else as JSON) into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else orjson.dumps(content)
        (folder / name).write_bytes(data)
    return folder


def opened(folder: Path, files: Mapping[str, Any]) -> Trace:
    """Write the files and open them."""
    return open_trace(write(folder, files))


def read_all(trace: Trace) -> WaveBatch:
    """All waves of a trace, in the order of its index."""
    return trace.reader.read(list(range(len(trace.waves))))


def only_wave(folder: Path, **changes: Any) -> tuple[Trace, TracedWave]:
    """A capture of one wave with these changes to its file; the trace and the wave as read."""
    trace = opened(folder, capture({PLACES[0]: wave(1000)}) | {name_of(PLACES[0]): wave(1000, **changes)})
    batch = read_all(trace)
    assert not batch.missing
    return trace, batch.waves[0]


def told(trace: Trace, where: str) -> Problem:
    """The only problem of a file, which must be told in a sentence and say what to do."""
    found = [problem for problem in trace.problems if problem.where == where]
    assert len(found) == 1, [str(problem) for problem in trace.problems]
    check_sentence(found[0])
    return found[0]


def check_sentence(problem: Problem) -> None:
    """Fail unless a problem reads like a sentence, has a place, and says what to do."""
    assert problem.text.endswith(".")
    assert problem.text[0].isupper() or problem.text[0].isdigit() or problem.text.startswith(problem.where)
    assert problem.where
    assert problem.hint.endswith(".")
    assert "Error" not in problem.text
    assert "Traceback" not in problem.text


def of_code(folder: Path, *rows: list) -> Trace:
    """The default capture with these rows of code instead of its own."""
    files = capture()
    files["code.json"]["code"] = list(rows)
    return opened(folder, files)


def sentences(problems: Iterable[Problem]) -> list[str]:
    """The texts of problems, each checked to be a sentence."""
    found = list(problems)
    for problem in found:
        check_sentence(problem)
    return [problem.text for problem in found]
