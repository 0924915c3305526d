"""The audit `km_anonymity`."""
