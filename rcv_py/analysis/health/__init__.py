"""Whether a capture can be trusted, and how to record a better one.

Each question is a function that returns a `HealthNote` or None.
Read `capture_health.py` first, which asks them all.
`check.py` looks up what must hold in every capture.
"""
