"""Changes of a policy's text that leave every other byte of it as it was: comments, order, quotes, line breaks."""
