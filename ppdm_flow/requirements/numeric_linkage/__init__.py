"""The requirement `numeric_linkage`."""
