"""Estimates of a run on a cluster: where each part of it runs, and what it takes."""
