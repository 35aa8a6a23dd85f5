"""Read and write files: bytes on disk to model tables and back."""
