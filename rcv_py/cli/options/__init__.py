"""What options are made of, options that commands share, and the list of commands.

Read `option.py` first.
"""
