"""The plugin `perturbation_utility`."""
