"""Policy tests: small tables, and what a policy has to make of them."""
