"""Texts for the recipients of a release: statements on its columns, and which figures may be shared."""
