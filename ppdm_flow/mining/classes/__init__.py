"""Equivalence classes with their sensitive values, as several audits measure them."""
