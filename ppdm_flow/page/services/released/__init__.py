"""Released files of a run: listed in its manifest, and given only as they are there."""
