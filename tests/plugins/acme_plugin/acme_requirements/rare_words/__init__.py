"""At most a largest share of released texts with words that few rows of the original have."""
