"""The audit `k_map`."""
