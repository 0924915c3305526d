"""The requirement `alpha_k`."""
