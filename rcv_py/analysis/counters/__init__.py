"""Hardware counters over time: banks, sums, derived values, and formulas over them.

`formula/` is their language, `pmc/` the counters of whole kernels.  Read `counters.py` first.
"""
