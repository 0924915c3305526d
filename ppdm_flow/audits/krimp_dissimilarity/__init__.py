"""The plugin `krimp_dissimilarity`."""
