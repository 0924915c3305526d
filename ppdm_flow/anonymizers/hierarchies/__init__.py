"""Generalization hierarchies: reading them, and the ancestors that they give each value."""
