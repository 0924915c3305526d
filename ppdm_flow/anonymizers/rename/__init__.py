"""The plugin ``rename``: other names for attributes."""
