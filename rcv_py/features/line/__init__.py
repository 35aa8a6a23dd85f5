"""How long each execution of an instruction took."""
