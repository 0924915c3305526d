"""The plugin ``mask``: characters become signs."""
