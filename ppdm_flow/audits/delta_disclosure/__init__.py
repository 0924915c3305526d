"""The audit `delta_disclosure`."""
