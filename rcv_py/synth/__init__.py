"""Synthetic captures from a small wave simulator: any size, every file variant, with ground truth."""
