"""Itemsets mined from releases, exact or estimated; distributions reconstructed."""
