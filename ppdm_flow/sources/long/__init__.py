"""The plugin `long`."""
