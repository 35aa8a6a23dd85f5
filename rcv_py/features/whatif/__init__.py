"""What a change of the kernel would gain."""
