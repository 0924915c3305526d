"""The plugin `suppress`."""
