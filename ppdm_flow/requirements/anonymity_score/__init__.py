"""The requirement `anonymity_score`."""
