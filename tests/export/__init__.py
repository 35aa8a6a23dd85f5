"""Files for other tools, read back by somebody else's rules."""
