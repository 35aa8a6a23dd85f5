"""What each wave did, and where it ran."""
