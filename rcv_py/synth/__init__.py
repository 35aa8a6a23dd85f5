"""Synthetic captures, made by a small simulator of waves: any size, every file variant, the truth known."""
