"""The plugin `attribute_disclosure`."""
