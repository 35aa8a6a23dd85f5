"""Where cycles go, as nested frames."""
