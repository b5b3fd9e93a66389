"""Characters of other people's texts that do something where they are shown, as parts of a pattern's class ``[...]``.

One list for the page, the rater's app and the terminal, each of which shows them in its own way. Joiners and selectors
are in none: scripts and emoji are spelled with them. Imports nothing.
"""

from typing import Final

#: Controls of ASCII and Latin-1 but tab and line ends.
CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
#: Controls that embed, override or isolate a direction: they reorder what stands around a text.
BIDIRECTIONAL: Final = "\u202a-\u202e\u2066-\u2069"
#: Halves of surrogate pairs, which no encoding has bytes for.
HALVES: Final = "\ud800-\udfff"
