"""The plugin `csv`."""
