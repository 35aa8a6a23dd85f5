"""SIMDs, compute units and the whole device over time: occupancy and its limits, work, states, pipes.

Read `simd_work.py` and `occupancy_limits.py` first.
"""
