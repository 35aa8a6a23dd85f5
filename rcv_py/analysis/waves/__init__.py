"""Which waves belong together: workgroups by their barriers, populations by their way through the code.

Read `populations.py` first.
"""
