"""Why views of an intact folder are empty, and what of it should not be trusted."""

from __future__ import annotations

import numpy as np

from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.text import plural
from rcv_py.formats.uiout import occupancy
from rcv_py.formats.uiout.folder import CODE, INDEX, Listing
from rcv_py.formats.uiout.index import Index
from rcv_py.model.code import CodeTable
from rcv_py.model.device import HardwareEvents
from rcv_py.model.kinds import EventKind
from rcv_py.model.waves import WaveIndex

_LOSSES = (EventKind.PACKET_LOSS, EventKind.TT_STALL_BEGIN)


def diagnostics(
    files: Listing,
    index: Index,
    code: CodeTable,
    waves: WaveIndex,
    device: occupancy.Occupancy,
) -> list[Problem]:
    """Return what a reader must know of the capture although no file is damaged."""
    is_sampled = index.has_pc_samples or code.samples_issued is not None
    found = [
        *_no_waves(code, waves, is_sampled),
        *_no_sources(code),
        *_lost_files(waves),
        *_lost_packets(device.events),
    ]
    if occupancy.FILE not in files and not is_sampled:
        found.append(
            Problem(
                Severity.WARNING,
                occupancy.FILE,
                f"{occupancy.FILE} is missing: what ran on the other compute units is not known.",
                "Copy the whole capture folder, or decode again.",
                (Affects.OCCUPANCY,),
            )
        )
    return found


def _no_waves(code: CodeTable, waves: WaveIndex, is_sampled: bool) -> list[Problem]:
    if len(waves):
        return []
    if is_sampled:
        return [
            Problem(
                Severity.INFO,
                INDEX,
                "This capture holds PC samples and no thread trace: there are no waves and no times.",
                "Read the ISA listing, the sources and the summary; record with --att for timelines.",
                (Affects.WAVES, Affects.OCCUPANCY),
            )
        ]
    return [
        Problem(
            Severity.WARNING,
            INDEX,
            "No wave ran on the traced compute unit, so there are no instructions to show.",
            "Choose another --att-target-cu, more engines in --att-shader-engine-mask, or a larger grid.",
            (Affects.WAVES,) if len(code) else (Affects.WAVES, Affects.CODE),
        )
    ]


def _no_sources(code: CodeTable) -> list[Problem]:
    if not len(code) or code.mapped_rows:
        return []
    return [
        Problem(
            Severity.INFO,
            CODE,
            "No instruction has a source line: the kernel was built without debug information.",
            "Build with -g (hipcc), or keep line information on in the compiler that made the kernel.",
            (Affects.SOURCE_LINES,),
        )
    ]


def _lost_files(waves: WaveIndex) -> list[Problem]:
    lost = np.flatnonzero(waves.size == 0)
    if not len(lost):
        return []
    name = waves.file[lost[0]]
    return [
        Problem(
            Severity.ERROR,
            name,
            f"Wave files that are missing or empty: {len(lost):,} of {len(waves):,}, such as {name}.",
            "Copy the whole capture folder; the other waves are shown.",
            (Affects.WAVES,) if len(lost) == len(waves) else (),
        )
    ]


def _lost_packets(events: HardwareEvents | None) -> list[Problem]:
    lost = int(np.isin(events.kind, _LOSSES).sum()) if events is not None else 0
    if not lost:
        return []
    return [
        Problem(
            Severity.WARNING,
            occupancy.FILE,
            f"The trace unit stalled or lost packets {plural(lost, 'time')}; what lies around is incomplete.",
            "Record with a larger --att-buffer-size, or fewer shader engines.",
        )
    ]
