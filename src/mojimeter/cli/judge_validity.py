"""``mojimeter judge validity``: people against the preservation score."""

from __future__ import annotations

import typer

from mojimeter.cli import judge_options as options
from mojimeter.cli.output import JSON_OPTION, write_json


def command(
    human: str = typer.Argument(
        ..., metavar="HUMAN", help="People's judgements: item, matching_pairs (0 to 5), rater_1, rater_2, ... (0 or 1)."
    ),
    bootstrap: int = options.BOOTSTRAP,
    seed: int = options.SEED,
    map: list[str] = options.MAP,
    json: bool = JSON_OPTION,
) -> None:
    """What people say by number of labels that stayed, their rank correlation with the score, and what caps it.

    mojimeter judge validity human_eval.csv
    """
    from mojimeter.datasets.tables import parse_mapping, read_table
    from mojimeter.trust.screens import Screen, print_validity
    from mojimeter.trust.validity import human_validity

    frame = read_table(human, mapping=parse_mapping(map))
    document = {"schema": 1, **human_validity(frame, human, draws=bootstrap, seed=seed).to_dict()}
    write_json(document) if json else print_validity(document, Screen())
