"""Releases of one run, read together: joined to one table, and judged by the people whom they single out."""
