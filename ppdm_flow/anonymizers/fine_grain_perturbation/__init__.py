"""The plugin `fine_grain_perturbation`."""
