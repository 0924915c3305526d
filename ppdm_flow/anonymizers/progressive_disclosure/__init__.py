"""The plugin ``progressive_disclosure``: template-based suppression (Wang, Fung, Yu, ICDM 2005)."""
