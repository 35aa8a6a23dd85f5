"""Databases and documents that rocprofv3 writes of a run: devices, kernels, launches, counters, PC samples.

Read `read.py` first.
"""
