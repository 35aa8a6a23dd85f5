"""Synthetic captures from a small simulator of waves: any size, every file variant, and known truth."""
