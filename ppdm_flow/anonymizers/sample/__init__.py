"""The plugin `sample`."""
