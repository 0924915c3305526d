"""Writers: plugins, reached by entry point."""
