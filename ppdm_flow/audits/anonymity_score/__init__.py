"""The plugin `anonymity_score`."""
