"""The plugin `corruption`."""
