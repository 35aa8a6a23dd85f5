"""Why: what made waves wait, by cause, by wait and by cycles in which nothing happened.

`panel.py` is the panel, the other modules are its three groupings.
"""
