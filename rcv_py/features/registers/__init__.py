"""Registers that hold values still needed."""
