"""The plugin `progressive_disclosure`."""
