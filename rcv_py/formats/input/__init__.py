"""Read files of a capture: one opener with limits, columns of JSON records, places of a run's files.

No other code opens a file of a capture.  Read `files.py` first.
"""
