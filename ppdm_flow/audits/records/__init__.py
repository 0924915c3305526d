"""Records of the original and of the release, coded alike and compared one with another: what attacks are made of."""
