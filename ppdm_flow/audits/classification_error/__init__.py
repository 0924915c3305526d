"""The plugin `classification_error`."""
