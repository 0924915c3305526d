"""The data sheet of a release: what its recipient has to know, in plain words and of this release alone."""
