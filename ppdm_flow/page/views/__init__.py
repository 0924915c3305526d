"""The pages, one folder a feature: each has its routes."""
