"""How pages look: HTML templates with all texts from one catalogue."""
