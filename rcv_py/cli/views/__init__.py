"""What commands print that have several views of one result."""
