"""The plugin interface: authors of plugins need this package, ``core`` and ``tables``, and nothing else."""
