"""What if: experiments as rows, what each would gain, and the selected wave as it would run.

`panel.py` is the panel, `controls.py` the sliders; what runs in a thread is `work/playing.py`.
"""
