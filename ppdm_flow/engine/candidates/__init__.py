"""Files that may be released, and the folder in which they wait."""
