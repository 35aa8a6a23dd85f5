"""Tables of columns: rows that paint themselves, header, filter, find bar.  Read `rows_view.py` first."""
