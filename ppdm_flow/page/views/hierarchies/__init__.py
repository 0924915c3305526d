"""Hierarchies of a policy's attributes: intervals on a histogram, values in groups."""
