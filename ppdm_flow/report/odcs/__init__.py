"""A release as a data contract of the Open Data Contract Standard."""
