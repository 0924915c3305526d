"""The plugin `full_domain_recoding`."""
