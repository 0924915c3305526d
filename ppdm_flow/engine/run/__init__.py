"""Runs a plan: measures, decides and publishes; and estimates beforehand."""
