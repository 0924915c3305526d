"""The requirement `cumulative_k`."""
