"""The plugin ``generalize``: coarser values."""
