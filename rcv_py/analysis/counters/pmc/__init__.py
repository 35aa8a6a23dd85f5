"""L2 and memory, by counters that are read once a dispatch."""
