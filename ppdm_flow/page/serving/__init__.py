"""Starting the server: addresses, limits, signals."""
