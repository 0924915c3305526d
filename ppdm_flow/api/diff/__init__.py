"""Policies, folders of policies and runs, compared."""
