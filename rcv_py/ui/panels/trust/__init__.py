"""Problems and health: what is wrong with the files, and whether the numbers can be trusted.

`panel.py` shows both; `problems.py` and `health.py` are its parts.
"""
