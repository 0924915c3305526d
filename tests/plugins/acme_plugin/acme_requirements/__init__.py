"""Two requirements of one's own for ppdm-flow: one on classes of rows, and one on words."""
