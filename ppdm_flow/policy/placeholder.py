"""``${params.name}``: how a policy refers to its parameters."""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(r"\$\{([^{}\n\r]*)\}")
"""One reference; group 1 is what stands between the braces."""
