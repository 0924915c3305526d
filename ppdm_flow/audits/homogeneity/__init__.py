"""The plugin `homogeneity`."""
