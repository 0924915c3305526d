"""Policy tests."""
