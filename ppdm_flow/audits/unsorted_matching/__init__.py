"""The plugin `unsorted_matching`."""
