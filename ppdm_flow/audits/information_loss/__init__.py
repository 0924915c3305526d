"""The plugin `information_loss`."""
