"""The plugin `itemset_recovery`."""
