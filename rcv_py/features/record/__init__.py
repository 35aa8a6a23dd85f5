"""How to record a capture with rocprofv3."""
