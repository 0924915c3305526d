"""The audit `lkc`."""
