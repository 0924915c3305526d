"""Privacy models: one folder for each kind of requirement."""
