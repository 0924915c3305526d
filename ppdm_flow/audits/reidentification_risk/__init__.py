"""The plugin `reidentification_risk`."""
