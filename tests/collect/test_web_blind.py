"""Blindness: nothing that reaches a rater's browser says which system wrote what, or what an item is called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from httpx import Response
from sqlalchemy import select

from mojimeter.collect.database import reading
from mojimeter.collect.schema import cells
from mojimeter.collect.study import Form
from tests.collect.small import SYSTEMS, SmallStudy, small_study
from tests.collect.web_support import Visitor, client_of

SECRETS = (*SYSTEMS, "source-item", "invented for a test")


def everything(study: SmallStudy) -> Iterator[Response]:
    """Every page, answer, error and file that a rater can get at, in the course of a whole session."""
    with client_of(study) as client:
        visitor = Visitor(client, study.links[0].token)
        yield client.get(f"/s/{visitor.token}")
        yield visitor.enter()
        for path in ("/", "/consent", "/withdraw", "/rate/1", "/cells?from=1&count=9"):
            yield client.get(path)
        yield visitor.post("/consent")
        yield client.get("/instructions")
        for position in range(1, study.store().state(study.links[0].rater).total + 1):
            yield client.get(f"/rate/{position}")
            yield client.get(f"/cells?from={position}&count=9")
            value = {"scale": "3", "keeps": "yes", "verdict": "wrong", "answer": "so"}[study.config.form]
            yield visitor.rate(position, value)
            yield visitor.rate(position, value, key="same-key-again")
            yield visitor.rate(position, "nonsense" * 900)
            yield visitor.rate(position, value, cell="0" * 16)
            yield client.get(f"/rate/{position}")
        for path in ("/done", "/rate/999", "/nowhere", "/health", "/admin", "/font.woff2", "/paused", "/declined"):
            yield client.get(path)
        for name in ("style.css", "rate.js", "outbox.js", "keys.js", "check.js", "font.js", "done.js"):
            yield client.get(f"/static/{name}")
        yield client.post("/ratings", content=b"{")
        yield client.post("/admin", data={"token": "guess"})
        yield visitor.post("/withdraw")
        yield client.get("/withdrawn")


@pytest.mark.parametrize("form", ["scale", "keeps", "verdict", "answer"])
def test_no_answer_to_a_rater_names_a_system_an_item_or_a_path(tmp_path: Path, form: Form) -> None:
    study = small_study(tmp_path / "study", form, raters=1, items=3, training=1, attention=1)
    secrets = (*SECRETS, str(tmp_path), "study.toml", ".sqlite", "attention")
    count = 0
    for answer in everything(study):
        count += 1
        said = f"{answer.url.path} {answer.headers} {answer.content.decode('utf-8', 'replace')}".lower()
        for secret in secrets:
            assert secret not in said, f"{answer.request.method} {answer.url} says {secret!r}"
    assert count > 60


def test_the_administrators_page_names_no_system_either(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=2)
    with client_of(study) as client:
        Visitor(client, study.links[0].token).agree().rate(1, "5")
        client.post("/admin", data={"token": study.admin_token})
        page = client.get("/admin").text
    assert study.links[0].rater in page
    assert not [secret for secret in SECRETS if secret in page]


def test_cells_have_random_names_that_differ_from_study_to_study(tmp_path: Path) -> None:
    found = []
    for k in (1, 2):
        study = small_study(tmp_path / str(k), raters=1, seed=7)
        with reading(study.store().engine) as connection:
            found.append(set(connection.execute(select(cells.c.id)).scalars()))
    assert not found[0] & found[1]
    assert all(re.fullmatch(r"[0-9a-f]{16,}", name) for name in found[0] | found[1])


def test_a_repeat_and_a_check_look_like_any_other_item(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study", raters=1, items=6, training=0, attention=2, repeats=0.3)
    with client_of(study) as client:
        Visitor(client, study.links[0].token).agree()
        total = study.store().state(study.links[0].rater).total
        shapes = set()
        for position in range(1, total + 1):
            page = client.get(f"/rate/{position}").text
            article = page[page.index("<article") : page.index("</article>")]
            # what may differ: the position, opaque names, times, the links beside, and the texts themselves
            article = re.sub(r'<div class="body".*?</div>', "", article, flags=re.DOTALL)
            article = re.sub(r"\d+(\.\d+)?|[0-9a-f]{16,}", "", re.sub(r'value="[^"]*"', "", article))
            article = re.sub(r'(data-cell|rel|href)="[^"]*"', "", article)
            if 1 < position < total:
                shapes.add(re.sub(r"\s+", " ", article))
    assert len(shapes) == 1
