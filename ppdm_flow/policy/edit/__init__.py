"""Changes values in a policy's text and leaves all other bytes: comments, order, quotes, line breaks."""
