"""Releases of one run, read together: joined to one table, and by the people whom they leave alone."""
