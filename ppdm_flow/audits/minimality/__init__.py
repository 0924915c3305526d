"""The plugin `minimality`."""
