"""How near the kernel is to the peaks of computing and of memory."""
