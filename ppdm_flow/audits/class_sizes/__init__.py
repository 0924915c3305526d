"""The plugin `class_sizes`."""
