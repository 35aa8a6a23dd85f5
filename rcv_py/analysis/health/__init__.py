"""Health of captures: whether a capture can be trusted, and how to record a better one.

Each question is a function that returns a `HealthNote` or None.
Read `capture_health.py` first, which calls them all.
`check.py` checks rules that must hold in every capture.
"""
