"""How values, names and quotations are spelled and found in texts."""
