"""The plugin `linkage`."""
