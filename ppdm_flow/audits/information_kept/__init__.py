"""The plugin `information_kept`."""
