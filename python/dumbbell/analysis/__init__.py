"""What follows from the records: metrics, and whether to trust them."""
