"""The options of `rcv record`."""

from pathlib import Path

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class RecordOptions(shared.Forms, example="rcv record --kernel gemm --launch 2 -- python bench.py"):
    """Record a kernel with rocprofv3; repeat if truncated or empty."""

    is_list = False
    rest_name = "program"
    needs = (
        opt.Need(
            "kernel launch regions consecutive gpu cu engines simds buffer activity target_counters attach"
            " out once twin host rocprofv3 limit strict yaml json csv",
            lambda options: options.watch is None,
            "what records",
            "Leave out --watch, or this.",
        ),
        opt.beside("watch", "times"),
        opt.beside("attach", "seconds"),
        opt.beside("activity", "target_counters"),
        opt.without("regions", "a recording without regions", "consecutive"),
        opt.Need("view", lambda options: not options.form, "a window", "Leave out the form of the answer."),
    )

    program: list[str] = opt.positional(
        "COMMAND", "command that runs the kernel, after two dashes: -- ./program ARGS", nargs="*"
    )
    kernel: str | None = opt.text("only kernels whose name matches this regular expression", "REGEX")
    launch: int | None = opt.number(
        "the launch with this number, counted from 1 (default: the first)", read=opt.positive_count
    )
    regions: bool = opt.flag("only between roctxProfilerResume and roctxProfilerPause of the program")
    consecutive: int | None = opt.number(
        "also this many launches after it, of any kernel, in one capture", read=opt.positive_count
    )
    gpu: int | None = opt.number(
        "only this GPU, by its number on the machine, regardless of which GPUs the program sees"
    )
    cu: int | None = opt.number("the compute unit or WGP to trace (default 1)", read=opt.at_most(15))
    engines: str | None = opt.option("mask of shader engines (default 0x1)", read=opt.mask, metavar="MASK")
    simds: str | None = opt.option(
        "mask of SIMDs; from gfx10 on the number of one", read=opt.simds, metavar="MASK"
    )
    buffer: int | None = opt.option(
        "memory for the trace, 1M to 2G (default 256M)", read=opt.buffer_size, metavar="SIZE"
    )
    activity: int | None = opt.number(
        "stream counters of gfx9 with this period, 1 to 16", read=opt.at_most(16, 1)
    )
    target_counters: bool = opt.flag("stream the counters of the traced compute unit alone")
    attach: int | None = opt.number("instead of a command: a running process", read=opt.positive_count)
    seconds: int | None = opt.number(
        "record the running process for this long (default 10)", read=opt.at_most(86400, 1)
    )
    out: Path = opt.path(
        "folder for captures, which go into numbered subfolders (default rcv_capture)",
        "DIR",
        Path("rcv_capture"),
    )
    once: bool = opt.flag("do not record again, whatever the result")
    twin: bool = opt.flag("record once more with the same settings, to measure the noise")
    host: str | None = opt.text(
        "record on another machine, by ssh, in its home folder or in DIR", "HOST[:DIR]"
    )
    rocprofv3: str | None = opt.text(
        "path of rocprofv3 (default: of the Python environment, from the search path, or of ROCm)", "PATH"
    )
    limit: int = opt.number(
        "end a run of rocprofv3 after this many seconds (default 3600)", 3600, read=opt.at_most(1_000_000, 1)
    )
    watch: Path | None = opt.path(
        "instead: analyse each capture that appears in DIR, and compare it with the previous one", "DIR"
    )
    times: int | None = opt.number("end after this many captures", read=opt.positive_count)
    view: bool = opt.flag("open a window instead of printing what limits the kernel")
    strict: bool = opt.flag("exit with 4 if the capture is still not trustworthy")
    yaml: bool = shared.form("only the input file for rocprofv3; nothing is recorded")
