"""The plugin `pseudonymize`."""
