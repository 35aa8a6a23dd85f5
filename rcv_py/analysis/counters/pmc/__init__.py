"""What counters read once a dispatch tell of L2 and memory."""
