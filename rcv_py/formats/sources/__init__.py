"""Find the sources that a capture has no copy of.

`rules.py` maps paths of its debug information to this machine, `find.py` reads those files.
"""
