"""A run: measured, decided, published; and what can be said beforehand."""
