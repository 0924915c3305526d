"""The plugin `pram`."""
