"""The plugin `singling_out`."""
