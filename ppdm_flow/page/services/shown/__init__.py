"""Which releases guests may read."""
