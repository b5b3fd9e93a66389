"""Studies for the tests of exchange formats: any form, hostile texts, some ratings."""

from __future__ import annotations

from hypothesis import strategies as st

from mojimeter.collect.exchange.survey import GivenRating, ShownCell, Survey

hostile = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
    st.sampled_from(
        [
            "",
            "0",
            "007",
            "1e5",
            "=1+1",
            "a\r\nb",
            '"',
            "\\",
            "\u202eabc\u202c",
            "שלום",
            "हिन्दी",
            "👩🏽‍🚀❤️",
            "\x00",
            "</View>",
        ]
    ),
)
names = st.text("0123456789abcdef", min_size=4, max_size=8)


@st.composite
def surveys(draw: st.DrawFn, texts: st.SearchStrategy[str] = hostile) -> Survey:
    """Studies of any form with hostile texts, and ratings of some cells."""
    form = draw(st.sampled_from(["scale", "keeps", "verdict", "answer"]))
    answers = {
        "scale": st.integers(1, 7).map(str),
        "keeps": st.sampled_from(["yes", "no"]),
        "verdict": st.sampled_from(["right", "wrong"]),
        "answer": texts.filter(bool),
    }[form]
    cells = [
        ShownCell(
            name, draw(texts.filter(bool)), draw(texts.filter(bool)), {"post": draw(texts), "output": draw(texts)}
        )
        for name in draw(st.lists(names, min_size=1, max_size=4, unique=True))
    ]
    ratings = [
        GivenRating(shown.cell, rater, draw(answers), draw(st.none() | st.integers(1, 10**7)))
        for shown in cells
        for rater in draw(st.lists(st.sampled_from(["r01", "r02", "r03"]), unique=True))
    ]
    return Survey(draw(texts), form, draw(texts), cells, ratings, 7, draw(texts), draw(texts), draw(texts))
