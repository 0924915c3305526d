"""The plugin `synthetic_training`."""
