"""What to look at first: patterns that cost cycles, with evidence and a remedy, the most costly first."""
