"""Readers: plugins, reached by entry point."""
