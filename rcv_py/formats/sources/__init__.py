"""Where the sources of a capture lie that it has no copy of.

`rules.py` says which path of its debug information is which here, `find.py` reads those files.
"""
