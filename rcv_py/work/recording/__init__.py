"""Record a capture with rocprofv3, here or on another machine, and again if it was cut or empty.

Begin with `recorder.py`.
"""
