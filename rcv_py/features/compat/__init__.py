"""The numbers of two older scripts, by their own rules."""
