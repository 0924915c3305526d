"""The plugin ``round_values``: numbers become multiples of a base."""
