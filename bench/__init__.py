"""Measurements against the budgets: `make bench` prints one table.  Not part of the program."""
