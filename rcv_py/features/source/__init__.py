"""What source lines cost."""
