"""The plugin `baskets`."""
