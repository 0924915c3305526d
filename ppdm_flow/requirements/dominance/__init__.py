"""The requirement `dominance`."""
