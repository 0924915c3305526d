"""The plugin `sas`."""
