"""From requirements on equivalence classes to the models that a search enforces: what several steps share."""
