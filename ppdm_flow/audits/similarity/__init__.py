"""The plugin `similarity`."""
