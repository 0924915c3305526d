"""Signing keys of people, each under a passphrase that the server does not keep."""
