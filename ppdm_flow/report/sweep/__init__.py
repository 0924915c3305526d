"""What a sweep found, for people: which points are worth having, in tables and in a picture."""
