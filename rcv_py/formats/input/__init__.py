"""Bytes of files of a capture: one opener with limits, columns of JSON records, where files of a run lie.

Nothing else opens a file of a capture.  Read `files.py` first.
"""
