"""Policies about numbers: what steps make of them, and requirements on what can be worked out of them."""
