"""The plugin ``lossy_join``: every row of a class beside every other."""
