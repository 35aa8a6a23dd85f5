"""Pure functions from tables to tables: no files, no clocks, no Qt, no randomness.

The rooms stand on floors (`tests/test_layers.py`): a room may use what is below it.  Start with
`core/token_columns.py`, which hands every analysis its tokens.
"""
