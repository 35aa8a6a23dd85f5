"""Notes about a capture: where they are kept, and the JSON that WaveScope and agents read and write.

Read `document.py` for the format, `store.py` for the files and what ties them to a capture.
"""
