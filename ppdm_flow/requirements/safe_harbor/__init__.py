"""The requirement `safe_harbor`."""
