"""What `rocprofv3 --pmc` counted for the kernel of a capture, if its tables lie beside it."""

from __future__ import annotations

from rcv_py.analysis.counters.pmc.decision import decision
from rcv_py.analysis.counters.pmc.traffic import traffic, traffic_facts
from rcv_py.analysis.overview.device_summary import Fact
from rcv_py.base.text import plural, short_kernel
from rcv_py.formats.pmc_files import beside
from rcv_py.model.trace import Trace

MEANING = "Mean of a dispatch, counted in runs of their own by rocprofv3 --pmc; rcv pmc tells more."


def pmc_facts(trace: Trace) -> tuple[Fact, ...]:
    """Return numbers of L2 and memory and the branch they lead to; nothing if none are of this kernel.

    Reads files: not for the thread of the window.
    """
    table = beside(trace.path)
    name = short_kernel(trace.kernel_name)
    if table is None or not name:
        return ()
    mine = [one for one in traffic(table) if short_kernel(one.name) == name]
    facts = list(traffic_facts(mine[0])) if mine else []
    if not facts:
        return ()
    found = decision(mine[0]).branch
    many = plural(mine[0].dispatches, "dispatch", "dispatches")
    return (
        *(Fact(f"pmc {name}", name, text, text, "", f"{MEANING} ({many})") for name, text in facts),
        Fact("pmc branch", "branch", found.name, found.name, found.sentence, found.remedy),
    )
