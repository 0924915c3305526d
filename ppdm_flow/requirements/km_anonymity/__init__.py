"""The requirement `km_anonymity`."""
