"""Basics of every analysis: tokens of many waves as columns, intervals, step curves, statistics.

Tables of the model come in, plain columns come out.  Read `token_columns.py` first, then
`parcels.py` and `reduction.py`, which show how analyses of many waves run.
"""
