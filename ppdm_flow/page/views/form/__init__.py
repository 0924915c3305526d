"""From a file to a policy: a form of its entries beside its YAML."""
