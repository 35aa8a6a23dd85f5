"""Comparison of two captures: matching instructions, their costs, and which differences are noise."""
