"""The plugin `cluster_analysis`."""
