"""What a held run keeps for its release, and what says afterwards that it was released."""
