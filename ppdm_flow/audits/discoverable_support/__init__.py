"""The plugin `discoverable_support`."""
