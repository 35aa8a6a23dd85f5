"""What differs between captures, and how a kernel changes over time."""
