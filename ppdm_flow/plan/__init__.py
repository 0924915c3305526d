"""Compiles a policy to a DAG; `explain` and `run` share one plan value."""
