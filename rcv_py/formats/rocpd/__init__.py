"""Read databases and documents of rocprofv3: devices, kernels, launches, counters, PC samples.

Read `read.py` first.
"""
