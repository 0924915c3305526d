"""The outcome of policy tests, for people and for CI."""
