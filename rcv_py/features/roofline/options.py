"""The options of `rcv roofline`."""

from rcv_py.cli.options import option as opt
from rcv_py.cli.options import shared


class RooflineOptions(shared.OfWaves, shared.WithRunFiles, example="rcv roofline FOLDER"):
    """Show how near the kernel and its loops come to their roofs."""

    agents = opt.AgentTool("Use it to see how far from which peak of the GPU a kernel is.")
