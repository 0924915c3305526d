"""The plugin `individual_risk`."""
