"""What the iterations of loops cost."""
