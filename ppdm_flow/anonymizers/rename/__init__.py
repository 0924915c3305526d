"""The plugin `rename`."""
