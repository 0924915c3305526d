"""Policies found, loaded, held against their lock, and bound to data."""
