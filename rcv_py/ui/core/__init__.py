"""What every panel builds on: base class, context, tasks, shared results, theme, icons, safe texts.

It imports no panel.  Read `panel.py` first, then `tasks.py`.
"""
