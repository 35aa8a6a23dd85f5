"""Which executed instructions each executed wait waited for, by the rules of each generation."""
