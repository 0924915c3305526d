"""Supports of itemsets, counted on bits or on seeds."""
