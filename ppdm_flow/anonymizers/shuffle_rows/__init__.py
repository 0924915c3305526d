"""The plugin `shuffle_rows`."""
