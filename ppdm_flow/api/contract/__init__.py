"""A first policy from a data contract."""
