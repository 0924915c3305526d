"""What need not hold for a while: all waivers, and new ones as edits of their policy."""
