"""The plugin ``drop``: attributes that do not go further."""
