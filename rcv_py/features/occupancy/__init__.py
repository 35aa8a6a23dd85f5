"""How many waves were resident, and what limits them."""
