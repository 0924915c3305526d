"""The plugin ``vertical_partition``: one table becomes several that share a key."""
