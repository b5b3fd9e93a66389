"""Studies and ratings in the formats of other tools: Label Studio, Potato, and plain tables.

Knows file formats and the long table of ratings; knows neither the database nor the web app, and needs none of the
tools whose files it reads and writes.
"""

from typing import Final

#: Tools whose files are read and written, as the command line calls them.
TOOLS: Final = ("label-studio", "potato")
