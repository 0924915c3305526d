"""Pages on plugins, terms, codes and figures; lists of plugins."""
