"""Data of timelines: level of detail, pixels of a row, the token under the mouse.

Read `raster.py` first, then `lod.py`.
"""
