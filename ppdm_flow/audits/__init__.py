"""One measure, check or attack a package: plugins, reached by entry point."""
