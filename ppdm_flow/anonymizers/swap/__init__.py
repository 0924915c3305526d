"""The plugin ``swap``: values change places among rows."""
