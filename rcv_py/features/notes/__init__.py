"""Notes about places, and the search for them."""
