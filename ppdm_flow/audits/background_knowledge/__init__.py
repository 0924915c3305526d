"""The plugin `background_knowledge`."""
