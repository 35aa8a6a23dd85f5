"""Reports: sections made of tables (`model.py`), written as HTML or Markdown.

Read `files.py` first, which lists the sections, and `cells.py`, which makes columns of results.
"""
