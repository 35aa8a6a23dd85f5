"""Interactive reports: one HTML page with linked timelines, listing, sources and findings.

Read `content.py` first, which defines the contents of a page, and `logic.js`, which decodes them; `page.js`
draws.
"""
