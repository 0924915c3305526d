"""Records of the original and of the release, coded alike, so that attacks can compare them."""
