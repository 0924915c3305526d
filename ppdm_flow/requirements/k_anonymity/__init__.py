"""The requirement `k_anonymity`."""
