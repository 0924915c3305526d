"""The plugin `sensitivities`."""
