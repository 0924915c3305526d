"""Runs a plan's DAG and writes its records."""
