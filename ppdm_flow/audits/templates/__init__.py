"""The plugin `templates`."""
