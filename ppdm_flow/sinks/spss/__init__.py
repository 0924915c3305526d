"""The plugin `spss`."""
