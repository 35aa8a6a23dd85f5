"""What every panel is made with: its base class, context, tasks, shared results, theme, icons, safe texts.

Knows no panel.  Read `panel.py` first, then `tasks.py`.
"""
