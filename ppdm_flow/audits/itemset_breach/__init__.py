"""The audit ``itemset_breach``: what released sets let one infer of the original ones."""
