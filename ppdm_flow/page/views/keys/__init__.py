"""One's own signing key."""
