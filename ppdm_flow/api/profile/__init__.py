"""A look at data before there is a policy."""
