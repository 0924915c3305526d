"""The plugin `first_draw`."""
