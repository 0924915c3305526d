"""Lock files: what a reviewed policy uses."""
