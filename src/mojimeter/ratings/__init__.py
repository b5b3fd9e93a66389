"""Statistics of crossed rating studies: would another panel, on other items, agree?

Takes any item x system x rater -> score table; knows nothing of emoji or models.
"""

from mojimeter.ratings.anova import Anova
from mojimeter.ratings.design import Design, DesignError
from mojimeter.ratings.study import Study

__all__ = ["Anova", "Design", "DesignError", "Study"]
