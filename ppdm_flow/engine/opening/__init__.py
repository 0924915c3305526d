"""Makes the plugins of a plan: readers, writers and algorithms."""
