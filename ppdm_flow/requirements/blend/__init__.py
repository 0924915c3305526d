"""The requirement `blend`."""
