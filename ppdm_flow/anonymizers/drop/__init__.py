"""The plugin `drop`."""
