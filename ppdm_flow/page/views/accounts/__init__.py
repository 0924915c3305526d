"""Signing in and out, one's own account, and the accounts of all."""
