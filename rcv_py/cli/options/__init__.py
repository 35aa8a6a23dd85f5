"""The options of every command, and which of them each command honours.

Read `option.py` first.
"""
