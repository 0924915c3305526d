"""Policies checked, without data or against it."""
