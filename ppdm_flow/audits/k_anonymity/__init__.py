"""The plugin `k_anonymity`."""
