"""People of a population file, and which released classes they fit."""
