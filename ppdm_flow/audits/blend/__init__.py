"""The plugin `blend`."""
