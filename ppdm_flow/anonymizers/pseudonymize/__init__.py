"""The plugin ``pseudonymize``: keyed pseudonyms in place of values."""
