"""Values and terms that the other packages share. No I/O but the pages of this package."""
