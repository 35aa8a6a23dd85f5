"""Why every stalled and idle cycle was spent: a cause, its evidence, and the instruction to blame."""
