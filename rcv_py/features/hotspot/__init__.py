"""What costs most: instructions, lines, files."""
