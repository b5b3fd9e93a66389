"""Do the raters agree, and by how much more than chance: alpha, intraclass correlations, kappas, correlations."""

from mojimeter.ratings.agreement.alpha import (
    LEVELS,
    Level,
    alpha_from_mean_squares,
    alpha_from_weights,
    krippendorff_alpha,
)
from mojimeter.ratings.agreement.icc import (
    ICC_MEANING,
    MCGRAW_WONG,
    TwoWay,
    icc_from_mean_squares,
    intraclass_correlations,
)
from mojimeter.ratings.agreement.icc_of_cells import has_cells, intraclass_correlations_of_cells
from mojimeter.ratings.agreement.kappa import Kappa, chance_corrected, fleiss_z
from mojimeter.ratings.agreement.panel_agreement import Agreement, Coefficients, PairAgreement, RaterUse, agree
from mojimeter.ratings.agreement.weights import WEIGHTS, Weights, agreement_weights

__all__ = [
    "ICC_MEANING",
    "LEVELS",
    "MCGRAW_WONG",
    "WEIGHTS",
    "Agreement",
    "Coefficients",
    "Kappa",
    "Level",
    "PairAgreement",
    "RaterUse",
    "TwoWay",
    "Weights",
    "agree",
    "agreement_weights",
    "alpha_from_mean_squares",
    "alpha_from_weights",
    "chance_corrected",
    "fleiss_z",
    "has_cells",
    "icc_from_mean_squares",
    "intraclass_correlations",
    "intraclass_correlations_of_cells",
    "krippendorff_alpha",
]
