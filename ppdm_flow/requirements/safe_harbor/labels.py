"""Numbers and their labels, as released cells write them: ages, years of birth, ZIP codes.

Expressions have to be found in a cell that has no blanks at its ends.
"""

from __future__ import annotations

_N = r"([0-9]+(?:\.[0-9]+)?)"

EXACT = rf"^{_N}$"
"""A number."""
FROM = rf"^(?:>=|≥) ?{_N}$|^{_N} ?(?:\+|(?:years )?(?:and|or) (?:older|over|above|up|more|later))$"
"""A number and all above it."""
ABOVE = rf"^> ?{_N}$"
"""All above a number."""
UP_TO = rf"^(?:<=|≤) ?{_N}$|^{_N} (?:years )?(?:and|or) (?:younger|under|below|less|earlier|before)$"
"""A number and all below it."""
BELOW = rf"^< ?{_N}$"
"""All below a number."""
BETWEEN = rf"^[\[(]?{_N}(?: ?(?:,|-|–|\.\.) ?| to ){_N}[\])]?$"
"""From one number to another: the ends belong to it unless a round bracket says otherwise."""
COVERED = r"^[*xX#?_.-]*$"
"""A cell that shows nothing."""
ZIP = r"^(?:[0-9]{0,3}[*xX#]+|[0-9]{1,3}|00000)$"
"""What may be left of a ZIP code: three digits, with or without signs for the others, or less."""

OLD = 90
"""Ages from here on are one category (164.514(b)(2)(i)(C))."""
OLDEST = 120
"""Nobody is older, so that 90 to 120 is the same as 90 or older."""
