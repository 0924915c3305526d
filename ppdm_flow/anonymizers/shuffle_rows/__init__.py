"""The plugin ``shuffle_rows``: a random order of rows."""
