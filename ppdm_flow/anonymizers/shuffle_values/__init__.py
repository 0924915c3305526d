"""The plugin ``shuffle_values``: values move to other rows, so that rank correlations stay and rows do not."""
