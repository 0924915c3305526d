"""The plugin `itemset_comparison`."""
