"""Data as algorithms see it: coded columns and counts; pandas and Arrow only at the edge."""
