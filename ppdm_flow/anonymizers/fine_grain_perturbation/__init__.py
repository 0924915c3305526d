"""The plugin ``fine_grain_perturbation``: random retention per value under (r1, r2) bounds (Chaytor and Wang)."""
