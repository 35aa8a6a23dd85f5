"""Global: all waves of the device over time.

`panel.py` is the panel, the other modules are its parts.
"""
