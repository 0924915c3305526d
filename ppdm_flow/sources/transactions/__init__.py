"""The plugin `transactions`."""
