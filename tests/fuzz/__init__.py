"""Mutated input by the hundred thousand: `make fuzz`, or `python -m tests.fuzz`.

`mutate` makes one input of another, `areas` feed them to the project, `runner` keeps time and memory, and counts.
"""
