"""The plugin ``limit_items``: sets of at most, and at least, so many items."""
