"""mojimeter: how well language models use emoji, and whether the ranking would survive another panel.

Importing the package is cheap: rooms are loaded when first used
(``from mojimeter import emoji``, ``from mojimeter.ratings import Study``).
"""

__version__ = "0.1.0"
