"""Sets of items, randomized."""
