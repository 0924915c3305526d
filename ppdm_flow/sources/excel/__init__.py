"""The plugin `excel`."""
