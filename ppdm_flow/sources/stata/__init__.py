"""The plugin `stata`."""
