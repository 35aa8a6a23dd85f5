"""Which waves belong together: workgroups by their barriers, populations by their path through the code.

Read `populations.py` first.
"""
