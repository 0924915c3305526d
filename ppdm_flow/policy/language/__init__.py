"""The policy language: its models, their shape, words and schemas."""
