"""Notes about a capture: their files, and the JSON that WaveScope and agents read and write.

Read `document.py` for the format, `store.py` for the files and their link to a capture.
"""
