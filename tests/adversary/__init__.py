"""An adversary as oracle: every figure of a release by brute force, without the engine's code."""
