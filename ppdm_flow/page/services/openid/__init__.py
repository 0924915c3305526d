"""Signing in by OpenID Connect: authorization code with PKCE, state and nonce; the ID token is checked here."""
