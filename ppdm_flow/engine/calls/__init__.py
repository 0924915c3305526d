"""Calls plugins and checks their results: borrowed arrays, returned tables, and texts."""
