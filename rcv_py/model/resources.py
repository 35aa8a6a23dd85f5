"""Resources of a kernel launch and of its device, from the tables of a run."""

from pathlib import Path

from rcv_py.base.record import Value


class KernelResources(Value):
    """One launch of a kernel, from `*_kernel_trace.csv`; -1 if the table has no such column."""

    kernel: str
    dispatch: int
    vgprs: int  # registers as listed: the tool lists half of them for some GPUs
    accum_vgprs: int
    sgprs: int
    lds: int  # bytes a workgroup
    scratch: int  # bytes a lane
    workgroup: tuple[int, int, int]  # threads
    grid: tuple[int, int, int]  # threads
    file: str  # name of the table
    ns: int = -1  # nanoseconds from start to end, in the run of the table; -1 if unknown
    ends_early: bool = False  # the table has its end no later than its start

    @property
    def threads(self) -> int:
        """Threads of a workgroup, 0 if unknown."""
        x, y, z = self.workgroup
        return x * y * z if min(self.workgroup) > 0 else 0


class AgentFacts(Value):
    """One kind of GPU, from `*_agent_info.csv`; 0 if the table has no such column."""

    name: str  # such as gfx950
    waves_per_simd: int
    simds_per_cu: int
    wave_size: int
    lds: int  # bytes a compute unit, as reported: the tool reports 64 KB for devices with more
    cus: int
    file: str
    engines: int = 0  # shader engines of the device
    product: str = ""  # such as AMD Instinct MI300X; "" if the table has no such column


class AllocatedRegisters(Value):
    """What a kernel allocates by its descriptor in the code object, from `threads` on by the note there."""

    vgprs: int  # of a lane, with accumulation registers where both are in one file
    sgprs: int  # of a wave; -1: always the same number
    lds: int  # bytes a workgroup that the program declares; a launch may ask for more
    file: str  # name of the code object
    scratch: int = -1  # bytes a lane
    has_dynamic_stack: bool = False  # calls may take more scratch
    lanes: int = 0  # of a wave; 0: unknown
    preloaded: int = 0  # scalar registers that hold arguments of the kernel when a wave begins
    threads: int = -1  # of a workgroup, at most
    is_exact: bool = False  # all workgroups have that many
    spilled_vgprs: int = -1
    spilled_sgprs: int = -1


class CompiledKernel(Value):
    """A kernel of a file that a compiler made."""

    path: Path  # below the file
    target: str  # with features, such as `gfx90a:xnack+`; "" if unknown
    symbol: str
    name: str  # for people
    allocated: AllocatedRegisters | None = None  # by its descriptor


class RunFacts(Value):
    """Facts about a capture from the tables next to it."""

    kernel: KernelResources | None = None
    agent: AgentFacts | None = None
    notes: tuple[str, ...] = ()  # why something is missing, as sentences
    damage: tuple[str, ...] = ()  # the tables of these notes that are damaged, as sentences
    command: tuple[str, ...] = ()  # the program and its arguments, as the profiler ran it
    command_file: str = ""  # name of the file with the command
    files: tuple[str, ...] = ()  # paths of the tables of kernel and device
    allocated: AllocatedRegisters | None = None
