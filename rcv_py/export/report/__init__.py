"""Reports: sections made of tables (`model.py`), written as HTML or Markdown.

Read `assemble.py` first; one module a section.
"""
