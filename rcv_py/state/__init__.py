"""What is open, what is looked at, what is loaded.  No Qt."""
