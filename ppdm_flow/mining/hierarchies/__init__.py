"""Generalization hierarchies: one form for all that a policy may declare, and builders that make them from data."""
