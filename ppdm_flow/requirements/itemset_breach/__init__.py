"""The requirement `itemset_breach`."""
