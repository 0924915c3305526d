"""The audit `alpha_k`."""
