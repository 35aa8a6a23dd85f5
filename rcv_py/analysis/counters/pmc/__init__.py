"""L2 and memory traffic, from counters that are read once a dispatch."""
