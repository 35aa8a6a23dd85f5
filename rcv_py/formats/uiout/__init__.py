"""The ui_output folder, a module a file of it."""
