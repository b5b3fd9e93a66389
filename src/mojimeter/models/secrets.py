"""Keys stay in the environment: this takes them out of any text that is about to be kept or shown."""

from __future__ import annotations

import os
import re

_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
_SHORTEST = 8  # a shorter value is no key, and would turn up in texts by chance


def secrets() -> dict[str, str]:
    """Value -> name of every environment variable that looks like a key."""
    return {value: name for name, value in os.environ.items() if _NAMES.search(name) and len(value) >= _SHORTEST}


def without_secrets(text: str) -> str:
    """The text with each key replaced by the name of its variable."""
    for value, name in secrets().items():
        if value in text:
            text = text.replace(value, f"<{name}>")
    return text
