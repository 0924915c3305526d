"""The plugin `mondrian`."""
