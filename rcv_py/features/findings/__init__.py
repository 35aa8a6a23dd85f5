"""What limits the kernel, and what to do first."""
