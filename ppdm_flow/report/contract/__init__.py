"""A first policy from a data contract, as YAML with comments."""
