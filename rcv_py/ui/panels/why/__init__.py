"""Why: one tree of what made waves wait, by cause, by wait or by cycles in which nothing happened.

`panel.py` is the tree, `grouping.py` what it asks of a grouping; the other modules are the three of them.
"""
