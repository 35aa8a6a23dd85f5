"""The options of `rcv occupancy`."""

from pathlib import Path

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared

OCCUPIED_BY = ("se", "all", "cu", "simd", "kernel", "state")


class OccupancyOptions(shared.OfCapture, shared.WithRunFiles, example="rcv occupancy FOLDER --by kernel"):
    """Show how many waves were resident, and what limits them."""

    agents = opt.AgentTool("Use it when too few waves are resident; limits says why.")
    needs = (opt.without("limits", "the curves", "by se only"), opt.beside("limits", "run_files"))

    by: str = opt.option("what a row is (default se)", "se", choices=OCCUPIED_BY)
    limits: bool = opt.flag("instead: what limits the waves of a SIMD, and the next step")
    se: int | None = shared.ENGINE
    only: list[str] | None = shared.only("only this row")
    run_files: list[Path] | None = shared.run_files("with --limits: ")
    csv: bool = shared.as_csv("the curves: a row for every change")
