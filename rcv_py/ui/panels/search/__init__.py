"""Search: code, labels, bookmarks and visited places.

`panel.py` is the panel with the field, the other modules are the parts that it narrows.
"""
