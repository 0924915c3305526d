"""Shows results; never runs anything."""
