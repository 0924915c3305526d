"""A repository of release policies to start from: nothing is downloaded, and nothing is overwritten."""

from ppdm_flow.api.scaffold.repository import DEFAULT, LINKED, contents, init, variants

__all__ = ["DEFAULT", "LINKED", "contents", "init", "variants"]
