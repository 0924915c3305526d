"""What a release is still good for, beside two random halves of the original: numbers, marginals, propensities."""
