"""Show what was measured; never run anything."""
