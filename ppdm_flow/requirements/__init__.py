"""Privacy models: one folder for each, with all that is said of it."""
