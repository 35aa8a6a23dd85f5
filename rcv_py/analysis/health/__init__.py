"""Whether a capture can be trusted, and how to record a better one.

One module a check, each yields notes; `capture_health.py` runs them all.
"""
