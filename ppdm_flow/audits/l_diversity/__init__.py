"""The audit `l_diversity`."""
