"""Emoji as everyone sees them: the bundled colour font, cut to what a page shows, and the marks around emoji.

Noto Color Emoji (SIL Open Font License 1.1, ``OFL.txt``) lies in the package; ``cut_emoji_font`` gives the part of it
that a page needs and ``mark_emoji`` the HTML that uses it. Knows ``emoji/`` only: nothing of runs, reports or studies.
"""

from mojimeter.fonts.cut import MissingEmojiError, cut_emoji_font, missing_emoji
from mojimeter.fonts.marking import Html, mark_emoji

__all__ = ["Html", "MissingEmojiError", "cut_emoji_font", "mark_emoji", "missing_emoji"]
