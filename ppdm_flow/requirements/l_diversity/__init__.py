"""The requirement `l_diversity`."""
