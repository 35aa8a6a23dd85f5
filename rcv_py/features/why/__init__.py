"""Why waves wait."""
