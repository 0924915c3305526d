"""The plugin ``limit_rows``: at most so many rows, or different values, a person."""
