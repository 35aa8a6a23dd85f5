"""What hardware counters say."""
