"""The requirement `k_map`."""
