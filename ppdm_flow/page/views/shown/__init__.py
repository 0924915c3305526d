"""What guests are shown, as stewards decide it."""
