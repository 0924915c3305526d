"""The plugin `rejoin`."""
