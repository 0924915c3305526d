"""The plugin `marginals`."""
