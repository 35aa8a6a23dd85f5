"""Jobs that read and prepare waves in other processes."""
