"""The ui_output folder, with a module for each of its files."""
