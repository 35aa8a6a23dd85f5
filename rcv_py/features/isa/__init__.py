"""The program: instructions, blocks, branches, and what instructions do."""
