"""The requirement `lkc`."""
