"""How long memory takes, and how much of it other waves hide."""
