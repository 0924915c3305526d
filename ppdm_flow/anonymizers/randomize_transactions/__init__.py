"""The plugin ``randomize_transactions``: sets of items, each randomized on its own."""
