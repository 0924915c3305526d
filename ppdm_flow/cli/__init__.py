"""Talk to a person; one verb a file."""
