"""Floors: what a template demands of every policy that extends it, and that none of them can take away."""
