"""Exports: traces, profiles and tables for other tools, and reports.  Writes, never computes costs."""
