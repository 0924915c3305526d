"""The plugin `cumulative_k`."""
