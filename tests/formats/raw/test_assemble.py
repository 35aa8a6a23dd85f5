"""Shader engines become one trace: what raw captures are known to hold, put together."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rcv_py.base.problems import Problems
from rcv_py.formats.packed.capture import open_packed, write_packed
from rcv_py.formats.raw.assemble import Assembled, _Once, assembled
from rcv_py.formats.raw.engine import Engine, FoundCode, engine_of, entries_of, known, texts_of
from rcv_py.formats.raw.objects import Extent, Places, Sidecar, address_map
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from tests.support.sqtt_truth import Raw, places_of_tokens, program_of, stream_of


def engines_of(raw: Raw) -> list[Engine]:
    """Engines as they come from decoding."""
    said = raw.said
    extents = [Extent(int(id), 1 << 20, (code["text"],)) for id, code in said["code"].items()]
    found = []
    for engine in raw.engines:
        id = str(engine["code_object"])
        stream = stream_of(raw.arch, engine, said["code"][id]["base"])
        places, row = places_of_tokens(engine)
        program = program_of(said["code"][id])
        programs = {(int(id), int(program.address[0])): program}
        loads = address_map((), extents, entries_of(stream), lambda *_: 0)
        code = FoundCode(stream, places, texts_of(places, programs), known(stream.waves, row), loads)
        found.append(engine_of(engine["file"], engine["se"], code, lambda _, found=programs: found))
    return found


def put_together(raw: Raw) -> Assembled:
    said = raw.said
    kernels = {(int(id), code["text"]): (code["kernel"], "") for id, code in said["code"].items()}

    def sources(codeobj: int, addresses: np.ndarray) -> Sequence[str]:
        return [f"/src/kernel.hip:{address}" for address in addresses.tolist()]

    objects = SimpleNamespace(
        sidecar=Sidecar(),
        sources=sources,
        names=lambda codeobj, address: kernels.get((codeobj, address), ("", "")),
        target=said["arch"],
    )
    return assembled(Path("/captures/one"), engines_of(raw), objects, Problems())


def opened(found: Assembled, folder: Path) -> Trace:
    write_packed(folder / "capture.rcvz", found.trace, found.columns, is_compressed=False)
    return open_packed(folder / "capture.rcvz")


@pytest.fixture
def trace(alone: Raw, tmp_path: Path) -> Trace:
    return opened(put_together(alone), tmp_path)


def test_every_token_stands_where_it_should(trace: Trace, alone: Raw) -> None:
    waves = alone.waves
    batch = trace.reader.read(list(range(len(trace.waves))))
    assert batch.missing == ()
    assert len(batch.waves) == len(waves) > 0
    for wave in batch.waves:
        said = waves[wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid]
        shift = trace.clock.offsets.get(wave.id.se, 0)
        assert (wave.begin - shift, wave.end - shift) == (said["begin"], said["end"])
        address = [int(trace.code.address[line]) for line in wave.tokens.line.tolist()]
        kind = [TokenKind.VALU if one == TokenKind.MATRIX else one for one in wave.tokens.kind.tolist()]
        tokens = zip(
            (wave.tokens.start - shift).tolist(),
            kind,
            address,
            wave.tokens.stall.tolist(),
            wave.tokens.duration.tolist(),
            strict=True,
        )
        assert [list(one) for one in tokens] == said["insts"]
        assert list(zip(wave.states.state, wave.states.duration, strict=True)) == list(
            map(tuple, said["timeline"])
        )
        assert wave.states.base == wave.begin
        assert trace.waves.span(wave.row).begin == wave.begin
        assert wave.waits is not None


def test_totals_are_those_of_the_tokens(trace: Trace, alone: Raw) -> None:
    tokens = [row for wave in alone.waves.values() for row in wave["insts"]]
    code = trace.code
    assert int(code.hits.sum()) == len(tokens)
    assert int(code.stall.sum()) == sum(row[3] for row in tokens)
    assert int(code.latency.sum()) == sum(max(row[3:]) for row in tokens)


def test_the_code_is_whole_and_has_its_kernel_and_places(trace: Trace, alone: Raw) -> None:
    code = trace.code
    (kernel,) = code.kernels
    ran = {str(engine["code_object"]) for engine in alone.engines if engine["waves"]}
    (said,) = (code for id, code in alone.said["code"].items() if id in ran)
    assert (kernel.name, kernel.first, kernel.stop) == (said["kernel"], 0, 1 + len(said["isa"]))
    assert list(code.text[1:]) == [text for _, _, text in said["isa"]]
    assert code.is_label.tolist() == [True] + [False] * (len(code) - 1)
    assert code.chain(1) == [(0, int(code.address[1]))]


def test_residents_have_their_kernel(trace: Trace) -> None:
    events = trace.occupancy
    assert set(events.kernel.tolist()) == {1}
    assert trace.waves.kernel.tolist() == [1] * len(trace.waves)
    assert events.names[1] == trace.code.kernels[0].name
    assert bool((np.diff(events.time) >= 0).all())
    assert {one.name for one in trace.dispatches} <= {events.names[1], "0 / 0x0"}


def test_engines_with_clocks_are_aligned_and_others_are_told_of(trace: Trace, alone: Raw) -> None:
    said = [problem for problem in trace.problems if problem.where == "clock"]
    clocks = [bool(engine["realtime"]) for engine in alone.engines]
    assert trace.clock.is_aligned == (sum(clocks) > 1 and not said)
    assert all(problem.severity == "warning" for problem in said)
    assert (
        bool(said)
        == bool(trace.clock.apart)
        == any(engine["waves"] and not engine["realtime"] for engine in alone.engines)
    )


@pytest.mark.parametrize("rows", [0, 1, 500])
def test_places_are_told_once_in_the_order_in_which_they_come(rows: int) -> None:
    random = np.random.default_rng(rows)
    codeobj = np.repeat(random.integers(-1, 3, rows), 3)
    address = np.repeat(random.integers(0, 4, rows), 3).astype(np.uint64) << np.uint64(61)
    once = _Once(Places(codeobj, address))
    each = list(zip(codeobj.tolist(), address.tolist(), strict=True))
    assert once.keys == list(dict.fromkeys(each))
    named = once.spread(np.arange(len(once.keys)))
    assert [once.keys[number] for number in named.tolist()] == each
