"""A new study's folder: claimed only where nothing is, and taken back where something fails.

Knows folders, nothing of what is in them.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from mojimeter.errors import InputError


def claim(folder: Path) -> bool:
    """Make the folder, for its owner only, unless it is there and empty.

    Returns:
        Whether it was made.

    Raises:
        InputError: it is not empty, or cannot be made.
    """
    try:
        if folder.is_dir():
            if any(folder.iterdir()):
                raise InputError(f"{folder}: the folder is not empty; nothing is overwritten, choose another")
            return False
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise InputError(f"{folder}: cannot be a study's folder: {error.strerror}") from None
    return True


def take_back(folder: Path, fresh: bool) -> None:
    """Remove what was written into a folder that was claimed; `fresh` as `claim` said."""
    with suppress(OSError):
        if fresh:
            shutil.rmtree(folder)
        else:
            for path in folder.iterdir():
                path.unlink()
