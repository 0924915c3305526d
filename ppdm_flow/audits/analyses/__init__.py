"""The plugin `analyses`."""
