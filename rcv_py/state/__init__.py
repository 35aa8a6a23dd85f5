"""State of the program: open capture, selection, loaded waves.  No Qt."""
