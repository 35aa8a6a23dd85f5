"""A small simulator of waves that writes captures and knows the truth about them."""
