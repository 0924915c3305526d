"""Inferences about people from the classes of a release in which they look alike."""
