"""Utilities for every layer: errors, problems, progress, colours, settings, number formatting."""
