"""Tables and ids of a trace: immutable numpy columns, no files, no algorithms."""
