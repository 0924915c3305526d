"""The results of a sweep for people: the points that are worth having, in tables and in a picture."""
