"""The plugin ``recode``: values become ranges, or other values."""
