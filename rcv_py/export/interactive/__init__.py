"""Reports to look around in: one HTML page with timelines, the listing, sources and findings, linked.

Read `content.py` first, which says what a page holds, and `logic.js`, which reads it again; `page.js` draws.
"""
