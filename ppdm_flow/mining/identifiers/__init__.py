"""Direct identifiers in cells: how they are written, their check digits, and which texts show them."""
