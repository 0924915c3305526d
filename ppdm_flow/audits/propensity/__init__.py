"""The plugin `propensity`."""
