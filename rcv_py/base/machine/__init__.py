"""The machine that runs us: memory, folders, editors, locks, compiled functions, and how a program ends.

Start with `user_folders.py`.
"""
