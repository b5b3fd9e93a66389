"""Names and messages made safe for a terminal: what would move the cursor, change colours or turn text round.

System names, file names and ids come from other people's files. Joiners, selectors and tags stay: emoji are made
of them. Knows nothing of what is printed.
"""

from __future__ import annotations

import re

from mojimeter.characters import BIDIRECTIONAL, CONTROLS, HALVES

# C0 and C1 controls, line and paragraph separators, bidirectional controls, lone surrogates
_UNSAFE = re.compile(f"[{CONTROLS}\t\n\r\u061c\u200e\u200f\u2028\u2029{BIDIRECTIONAL}{HALVES}]")


def plain(text: str) -> str:
    """The text on one line, each unsafe character written as Python writes it, such as an escape."""
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], text)
