"""Equivalence classes with their sensitive values: what several audits measure."""
