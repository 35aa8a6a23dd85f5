"""Two captures side by side: which instruction is which, what each costs, and what of it is noise."""
