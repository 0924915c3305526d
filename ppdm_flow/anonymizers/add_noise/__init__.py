"""The plugin ``add_noise``: random numbers are added to numbers."""
