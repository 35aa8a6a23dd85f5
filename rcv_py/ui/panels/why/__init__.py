"""Why: a tree of the causes of waiting, grouped by cause, by wait or by cycles without issue.

`panel.py` is the tree, `grouping.py` the interface of a grouping; the other modules are the three groupings.
"""
