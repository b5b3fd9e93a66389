"""Items: a list of any length that can be searched, sorted and filtered, and one item in full, by keyboard alone."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tests.browser import screenshot, seen
from tests.report_page import sample
from tests.report_page.conftest import show

MANY = 20_000


def ids(page) -> list[str]:
    """Ids of the rows in the page, in the order of the list."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.row')].sort((a, b) => a.dataset.place - b.dataset.place)
                 .map(row => row.querySelector('.id').textContent)"""
    )


def search(page, text: str) -> None:
    page.get_by_label("Search text, id or emoji").fill(text)
    page.wait_for_function("text => new URLSearchParams(location.hash.slice(1)).get('q') === (text || null)", arg=text)


def cells(page, row: str) -> list[str]:
    line = page.locator(".item tbody tr", has=page.locator("th", has_text=row)).first
    return [" ".join(text.split()) for text in line.locator("td").all_inner_texts()]


def many_items() -> dict[str, Any]:
    """The sample with 20,000 posts: the same texts over and over, each with its own id."""
    document = sample.document()
    run = document["runs"][0]
    document["runs"] = [run]
    items = run["items"]
    texts = [f"post number {k} {'coffee' if k % 100 == 7 else 'tea'} 😂" for k in range(MANY)]
    items |= {"n": MANY, "id": [f"p{k}" for k in range(MANY)], "text": texts, "lang": ["en", "hi"] * (MANY // 2)}
    items |= {"gold": [[0]] * MANY, "author": list(range(MANY)), "votes": {}, "people": {}}
    items |= {"disagreement": [(k * 7919 % MANY) / MANY for k in range(MANY)], "mattered": [0.0] * MANY}
    for own in items["systems"].values():
        own |= {"emoji": [[k % 7] for k in range(MANY)], "flags": {}, "reply": {}, "error": {}}
    for judge in items["labels"].values():
        for system in judge.values():
            for task in system:
                system[task] = "01" * (MANY // 2)
    return document


@pytest.fixture(scope="module")
def many_file(write_report):
    return write_report("many", many_items())


def test_of_20000_items_only_those_in_view_are_in_the_page(page, many_file):
    show(page, many_file, "#tab=items")
    rows = page.locator(".row")
    listbox = page.get_by_role("listbox")
    assert page.get_by_text("20,000 of 20,000 items").is_visible()
    assert rows.first.get_attribute("aria-setsize") == "20000"
    most = page.evaluate(
        """async () => {
          const list = document.querySelector('.list');
          let most = 0;
          for (let step = 0; step <= 40; step++) {
            list.scrollTop = step / 40 * list.scrollHeight;
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            most = Math.max(most, document.querySelectorAll('.row').length);
          }
          return most;
        }"""
    )
    assert 5 < most < 120
    assert page.locator(".row", has_text="p19999").is_visible()
    search(page, "coffee")
    assert page.get_by_role("status").inner_text() == "200 of 20,000 items"
    assert rows.count() < 120
    assert ids(page)[:2] == ["p7", "p107"]
    search(page, "p12345")
    assert ids(page) == ["p12345"]
    search(page, "")
    page.get_by_label("Order").select_option("disagreement")
    # the largest share is 19999/20000, at the k with 7919 k = 19999 modulo 20000
    assert ids(page)[0] == f"p{pow(7919, -1, MANY) * (MANY - 1) % MANY}"
    listbox.press("End")
    assert ids(page)[-1] == "p0"
    assert seen(page).complaints == []


def test_a_search_looks_at_texts_ids_and_emoji_that_systems_chose(page, report_file):
    show(page, report_file, "#tab=items")
    assert ids(page) == [f"p{k}" for k in range(8)]
    search(page, "करो")
    assert ids(page) == ["p0"]
    search(page, "P3")
    assert ids(page) == ["p3"]
    search(page, "❤️")
    # in the text of p1; chosen by alpha for p0, by beta and gamma for all from p1 on
    assert ids(page) == [f"p{k}" for k in range(8)]
    search(page, "🇮🇳")
    assert ids(page) == ["p5"]
    search(page, "nothing like it")
    assert ids(page) == []
    assert page.get_by_role("status").inner_text() == "0 of 8 items"


def test_items_sort_by_disagreement_and_by_whether_emoji_mattered(page, report_file):
    show(page, report_file, "#tab=items")
    page.get_by_label("Order").select_option("disagreement")
    assert ids(page)[:3] == ["p2", "p0", "p3"]
    page.get_by_label("Order").select_option("mattered")
    assert ids(page)[:2] == ["p0", "p1"]
    page.reload()
    page.wait_for_selector(".row")
    assert ids(page)[:2] == ["p0", "p1"]


def test_items_filter_by_language_group_label_and_failure(page, report_file):
    show(page, report_file, "#tab=items")
    page.get_by_label("Language").select_option("hi")
    assert ids(page) == ["p0"]
    page.get_by_label("Language").select_option("")
    page.get_by_label("Emoji group").select_option("People & Body")
    assert ids(page) == ["p7"]
    page.get_by_label("Emoji group").select_option("")
    page.get_by_label("Original's label").select_option("sentiment=positive")
    # "21002101" by the first judge: positive is 2
    assert ids(page) == ["p0", "p4"]
    page.get_by_label("Original's label").select_option("")
    page.get_by_label("Only").select_option("failures")
    assert ids(page) == ["p0", "p2"]
    assert "failed" in page.locator(".row").nth(0).inner_text()
    assert "odd reply" in page.locator(".row").nth(1).inner_text()
    page.get_by_label("Only").select_option("leaked")
    assert ids(page) == ["p2"]
    page.get_by_label("Only").select_option("rated")
    assert ids(page) == ["p0"]


def test_a_post_shows_every_systems_emoji_every_judges_label_votes_ratings_and_failures(page, report_file):
    show(page, report_file, "#tab=items&item=p0")
    screenshot(page, "report-post", full_page=True)
    assert page.locator(".original").inner_text() == sample.HINDI
    assert page.locator(".original").get_attribute("lang") == "hi"
    emoji, sentiment, gender, people = cells(page, "the original")[:4]
    assert (emoji, sentiment, gender, people) == (
        "🙂",
        "J1positive (2 of 2 votes) J2positive",
        "J1female (2 of 2 votes) J2female",
        "none",
    )
    emoji, sentiment, gender, people = cells(page, "maker/alpha")[:4]
    assert emoji == "😂❤️"
    assert sentiment == "J1positive (votes: 2 positive, 1 not read) J2positive"
    assert gender == "J1female (of 3 votes) J2male◆ changed"
    assert people == f"anna 4 rater {sample.SCRIPT} 2"
    emoji, sentiment, _, _, reply = cells(page, "evil/")
    assert emoji == "failed"
    assert sentiment == "J1? not read (2 of 2 votes) J2no label"
    assert reply == f"failed: timeout {sample.IMAGE}"
    assert page.get_by_text("J1: judge/one; J2: judge/two.").is_visible()
    assert page.locator(".item .perceived").is_visible()


def test_a_reply_with_words_is_quoted_and_its_flag_named(page, report_file):
    show(page, report_file, "#tab=items&item=p2")
    reply = cells(page, "maker/alpha")[-1]
    assert reply == f"words beside the emoji “Sure! {sample.SCRIPT} 😂”" or reply == (
        f"words beside the emoji Sure! {sample.SCRIPT} 😂"
    )
    assert page.get_by_text("The plain text still held emoji when systems saw it.").is_visible()


def test_a_pair_shows_contexts_answers_verdicts_readings_and_differences(page, report_file):
    show(page, report_file, "#tab=items&run=r2&item=q0")
    screenshot(page, "report-pair", full_page=True)
    contexts = page.locator(".contexts section").all_inner_texts()
    assert "After a quarrel." in contexts[0]
    assert "Right answer: Coldly. (figurative)" in contexts[0]
    assert "Right answer: Kindly. (literal)" in contexts[1]
    assert page.locator(".question").inner_text() == f"Question: How is it meant? {sample.SCRIPT}"
    first, second, none, differs = cells(page, "maker/alpha")
    assert first.endswith("✓ right reads it as in context 1, figurative")
    assert second.endswith("✗ wrong reads it as in context 1, figurative")
    assert none.endswith("reads it as in context 2, literal")
    assert differs == "1 and 2: the same 1 and none: differ 2 and none: differ"
    assert cells(page, "baseline/random")[0] == "no answer"
    page.get_by_role("listbox").press("ArrowDown")
    page.get_by_role("listbox").press("Enter")
    page.wait_for_selector(".item h3 >> text=q1")
    first, second, none, differs = cells(page, "maker/alpha")
    assert first.endswith("? not read reads it as neither")
    assert second.endswith("not judged")
    assert none == "no answer"
    assert differs == "1 and 2: not read, or asked in one order only"


def test_a_rated_item_shows_every_raters_score(page, report_file):
    show(page, report_file, "#tab=items&run=r3&item=i1")
    assert cells(page, "a") == ["4", "no rating"]
    assert cells(page, "b") == ["4", "3"]


def test_the_keyboard_alone_walks_tabs_list_and_item(page, report_file):
    show(page, report_file)
    page.keyboard.press("Tab")  # the link that skips to the report
    assert page.evaluate("document.activeElement.id") == "skip"
    page.get_by_role("tab", name="Leaderboard").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Items").get_attribute("aria-selected") == "true"
    assert page.evaluate("document.activeElement.id") == "tab-items"
    page.keyboard.press("Tab")  # the panel
    page.keyboard.press("Tab")  # the search
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("p")
    page.wait_for_function("() => location.hash.includes('q=p')")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "listbox":
            break
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    active = page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).textContent"
    )
    assert "p2" in active
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Item p2"
    assert "item=p2" in page.url
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"
    assert "item=" not in page.url
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Item p3"
    page.go_back()
    page.go_back()
    assert page.locator(".item h3").inner_text() == "Item p2"


def test_typing_keeps_the_focus_and_fills_no_history(page, report_file):
    show(page, report_file, "#tab=items")
    length = page.evaluate("history.length")
    page.get_by_label("Search text, id or emoji").press_sequentially("p1", delay=100)
    page.wait_for_function("() => location.hash.includes('q=p1')")
    assert page.evaluate("history.length") == length
    assert page.evaluate("document.activeElement.id") == "search"


def test_saved_items_are_those_of_the_list_in_its_order(page, report_file):
    show(page, report_file, "#tab=items&order=disagreement&only=failures")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(io.StringIO(file.read())))
    assert [row["id"] for row in rows] == ["p2", "p0"]
    assert rows[0]["text"] == sample.SCRIPT + " 😂"
    assert rows[1]["emoji: maker/alpha"] == "😂 ❤️"
    assert rows[1]["disagreement"] == "0.5"


def test_a_report_without_texts_says_so(page, write_report):
    document = sample.document() | {"texts": False}
    document["runs"] = document["runs"][:1]
    document["runs"][0]["items"]["text"] = [None] * 8
    show(page, write_report("no-texts", document), "#tab=items&item=p0")
    assert page.get_by_text("Texts of posts and replies were left out of this file.").is_visible()
    assert page.get_by_text("The text of this post is not in this file.").is_visible()
    assert page.locator(".row .line").first.inner_text() == "p0"
