"""The capture on one page."""
