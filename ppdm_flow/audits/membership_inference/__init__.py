"""The plugin `membership_inference`."""
