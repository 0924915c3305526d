"""p-sensitive k-anonymity (Truta, Vinay, ICDE Workshops 2006)."""
