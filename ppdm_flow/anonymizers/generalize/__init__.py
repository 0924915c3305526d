"""The plugin `generalize`."""
