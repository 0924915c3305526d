"""Itemsets level by level, from exact or randomized sets."""
