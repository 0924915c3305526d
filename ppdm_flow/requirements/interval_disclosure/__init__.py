"""The requirement `interval_disclosure`."""
