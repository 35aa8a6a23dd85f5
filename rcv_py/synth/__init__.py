"""Synthetic captures from a small simulator of waves: any size, every file variant, and the truth is known."""
