"""Plans, with or without a look at the data."""
