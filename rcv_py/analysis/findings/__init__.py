"""Findings: patterns that cost cycles, with evidence and a remedy, the most costly first."""
