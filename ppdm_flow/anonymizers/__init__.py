"""One algorithm a package: plugins, reached by entry point."""
