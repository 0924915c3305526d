"""The plugin `parquet`."""
