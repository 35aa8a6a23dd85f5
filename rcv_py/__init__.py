"""rcv: a viewer and triage tool for AMD GPU instruction-level thread traces."""

__version__ = "0.1.0"
