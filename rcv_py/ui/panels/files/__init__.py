"""Files: where the time went, by place.

`panel.py` is the panel with the filter, `tree.py` and `ranked.py` are its two views.
"""
