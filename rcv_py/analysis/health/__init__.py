"""Whether a capture can be trusted, and how to record a better one.

Each question is a function that returns a note or None; `capture_health.py`, to read first, asks them all.
`check.py` looks up what must hold in every capture.
"""
