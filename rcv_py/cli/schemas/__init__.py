"""The published schemas of `--json`: one table a document, every field with its meaning and unit."""
