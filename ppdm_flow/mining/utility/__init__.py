"""Utility of a release, beside two random halves of the original: numbers, marginals, propensities."""
