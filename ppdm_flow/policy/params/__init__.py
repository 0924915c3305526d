"""Params and placeholders, and what `--set` may give them."""
