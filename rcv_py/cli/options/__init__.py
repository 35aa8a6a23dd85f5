"""The options of every command, and which of them it honours.

Read `option.py` first.
"""
