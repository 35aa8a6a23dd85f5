"""Files for Perfetto and speedscope.

Read `perfetto.py` first.
"""
