"""Bytes on disk to model tables and back."""
