"""PC samples by instruction, line or reason, beside the cycles of a thread trace."""
