"""Generalization hierarchies, made and held against data."""
