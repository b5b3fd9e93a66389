"""Statistics of crossed rating studies: would another panel, on other items, agree?

Takes any item x system x rater -> score table; knows nothing of emoji or models.
"""

from mojimeter.ratings.anova import Anova
from mojimeter.ratings.design import Design, DesignError
from mojimeter.ratings.plan import plan
from mojimeter.ratings.power import power
from mojimeter.ratings.printed import PrintedTable
from mojimeter.ratings.study import Study

__all__ = ["Anova", "Design", "DesignError", "PrintedTable", "Study", "plan", "power"]
