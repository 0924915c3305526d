"""The plugin `microaggregation`."""
