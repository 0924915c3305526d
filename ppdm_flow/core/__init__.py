"""Our words: what the other rooms share. No I/O but the pages of this package."""
