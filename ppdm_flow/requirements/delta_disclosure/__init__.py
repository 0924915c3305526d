"""The requirement `delta_disclosure`."""
