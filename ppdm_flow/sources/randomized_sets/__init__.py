"""The plugin `randomized_sets`."""
