"""What if: experiments as rows, the gain of each, and the selected wave as it would run.

`panel.py` is the panel, `controls.py` the sliders; `work/playing.py` runs in a thread.
"""
