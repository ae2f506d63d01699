"""The page of `classify report`, driven in a browser as a reader would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from playwright.sync_api import Page, expect

from classify.answers import BooleanAnswer, ChoiceAnswer
from classify.evidence import Evidence, OrderSeen, SeenToken
from classify.questions import Choice
from tests.adapters.report.sample_results import row, sample

if TYPE_CHECKING:
    from tests.adapters.report.conftest import Results

Opened = Callable[..., Page]
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
HOSTILE = cast(
    "dict[str, str]",
    json.loads((Path(__file__).parents[2] / "references/hostile_texts.json").read_text("utf-8"))[
        "texts"
    ],
)

SEEN = """[...document.querySelectorAll("main, main *")].flatMap((node) =>
  [node.innerText, node.title, node.ariaLabel]).join("")"""


@pytest.fixture
def page(sample_page: Path, opened: Opened) -> Page:
    """Open the page of the sample."""
    return ready(opened(sample_page))


def ready(page: Page) -> Page:
    page.wait_for_selector("html[data-ready]")
    return page


def status(page: Page) -> str:
    return page.locator(".status").inner_text()


def ids(page: Page) -> list[str]:
    """Return the ids of the first rows listed."""
    return page.locator(".grid-body .id-cell").all_inner_texts()[:3]


def test_the_head_counts_rows_failures_and_missing_verdicts(page: Page) -> None:
    """What must be known before any figure is believed."""
    tiles = page.locator(".tiles").inner_text()

    assert "58 of 60" in tiles and "2 failed" in tiles
    assert "refusal 2" in tiles
    assert "2 rows failed with ProviderError. The first: no answer" in page.inner_text(".head")


def test_the_bars_are_the_numbers_of_the_results(page: Page) -> None:
    """Of the rows answered every third is about a refund; the rest are deliveries."""
    answers = page.locator(".question").first.locator(".options").first.inner_text()
    numbers = [int(n) for n in re.findall(r"^(\d+) ·", answers, re.MULTILINE)]

    expected = [r for r in sample() if "choice" in dict(r.answers.get("topic") or ())]
    refunds = sum(r.index % 3 == 0 for r in expected)
    assert numbers == [refunds, len(expected) - refunds, 0]


def test_what_asking_again_changes_stands_beside_the_answers(
    results: Results, opened: Opened
) -> None:
    """Of three texts two were judged twice, and one of these answers changed, by .6."""
    sure = [BooleanAnswer(probability=p, method="logprobs") for p in (0.9, 0.8, 0.7, 0.3, 0.8)]
    results.write(
        [
            row(index, "x").model_copy(
                update={"key": f"{index % 3}", "answers": {"urgent": answer}, "labels": {}}
            )
            for index, answer in enumerate(sure)
        ]
    )

    page = ready(opened(results.make()))

    said = "50 % change when asked again, probabilities by 0.3 (2 of 3 items)"
    assert said in page.locator(".question").nth(2).inner_text()


def test_words_narrow_the_rows_wherever_they_are(page: Page) -> None:
    """In an id, in a text, in the name of an answer."""
    search = page.get_by_label("Search")

    search.fill("MESSAGE 59")
    expect(page.locator(".status")).to_have_text("1 of 60 rows")
    search.fill("row-7 delivery")
    expect(page.locator(".status")).to_have_text("1 of 60 rows")
    search.fill("nothing of the kind")
    expect(page.locator(".status")).to_have_text("0 of 60 rows")


def test_filters_join_and_are_kept_in_the_address(page: Page) -> None:
    """What was found can be found again, by someone else too."""
    page.get_by_label("Question").select_option("topic")
    page.get_by_label("Answer", exact=True).select_option("option:delivery")
    page.get_by_label("Labels").select_option("disagrees")
    page.get_by_label("Confidence from").fill("0.6")
    found = status(page)
    shown = ids(page)

    page.reload()
    ready(page)

    wrong = [r for r in sample() if r.index % 3 and r.index % 2 == 0 and r.index >= 40]
    answered = [r for r in wrong if r.answers and "choice" in dict(r.answers["topic"])]
    assert found == f"{len(answered)} of 60 rows" == status(page)
    assert shown == ids(page)


def test_one_answer_must_pass_all_filters_of_answers(page: Page) -> None:
    """Not one question's answer the first of them and another question's the second."""
    page.get_by_label("Answer", exact=True).select_option("option:refund")
    page.get_by_label("Labels").select_option("disagrees")

    wrong = [r for r in sample() if r.index % 3 == 0 and r.index % 2 and r.answers]
    answered = [r for r in wrong if "choice" in dict(r.answers["topic"])]
    assert status(page) == f"{len(answered)} of 60 rows"


def test_rows_without_a_verdict_and_failed_rows_are_found(page: Page) -> None:
    """Each apart, by its cause."""
    page.get_by_label("Answer", exact=True).select_option("no verdict:refusal")
    assert ids(page) == ["row-30", "row-40"]
    page.get_by_label("Answer", exact=True).select_option("failed:")
    assert ids(page) == ["row-10", "row-20"]
    assert "failed: ProviderError" in page.locator(".grid-body").inner_text()


def test_a_header_sorts_both_ways_and_back(page: Page) -> None:
    """Rows without a value stay at the end."""
    header = page.get_by_role("columnheader", name="urgent")

    header.get_by_role("button").click()
    assert (header.get_attribute("aria-sort"), ids(page)[0]) == ("ascending", "row-0")
    header.get_by_role("button").click()
    assert (header.get_attribute("aria-sort"), ids(page)[0]) == ("descending", "row-59")
    page.get_by_role("grid").press("End")
    assert page.locator(".grid-row.active .id-cell").inner_text() in ("row-10", "row-20")
    header.get_by_role("button").click()
    assert (header.get_attribute("aria-sort"), ids(page)[0]) == ("none", "row-0")


def test_a_row_is_opened_read_and_left_by_keyboard(page: Page) -> None:
    """The focus goes into the panel and comes back to the row it came from."""
    page.get_by_role("grid").press("ArrowDown")
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog")
    expect(panel.get_by_text("message 1 about a parcel")).to_be_visible()
    assert page.evaluate("document.activeElement.textContent") == "row-1"

    page.keyboard.press("ArrowRight")
    expect(panel.get_by_text("message 2 about a parcel")).to_be_visible()
    page.keyboard.press("Escape")

    expect(panel).to_have_count(0)
    assert page.evaluate("document.activeElement.className") == "grid"
    assert page.locator(".grid-row.active .id-cell").inner_text() == "row-2"
    assert "row=" not in page.url


def test_every_control_is_reached_by_tab_and_is_seen_to_be(page: Page) -> None:
    """From the top to the table; each has an outline while it has the focus."""
    seen: list[str] = []
    for _ in range(80):
        page.keyboard.press("Tab")
        outline, name = page.evaluate(
            "(() => { const at = document.activeElement; const style = getComputedStyle(at);"
            "return [style.outlineStyle + ' ' + style.outlineWidth, at.className || at.tagName]})()"
        )
        assert outline == "solid 2px", name
        seen.append(name)
        if name == "grid":
            break

    assert seen[-1] == "grid"
    assert {"INPUT", "SELECT", "SUMMARY", "option", "row-link"} <= set(seen)


def test_a_number_of_the_table_of_labels_shows_its_rows(page: Page) -> None:
    """As many as it says."""
    cell = page.get_by_role("button", name=re.compile("People delivery, answered refund"))
    rows = int(cell.inner_text())

    cell.click()

    assert status(page) == f"{rows} of 60 rows"


def test_evidence_bounds_and_raw_probabilities_are_shown(results: Results, opened: Opened) -> None:
    """An answer that was seen in part, in two orders, and calibrated."""
    order = OrderSeen(
        labels={"A": "yes", "B": "no"},
        probabilities={"yes": 0.8, "no": 0.2},
        label_mass=0.9,
        alternatives=(
            SeenToken(token=" A", logprob=-0.25, label="A"),
            SeenToken(token="\\", logprob=None),
        ),
        prompt_hash="ab" * 32,
    )
    answer = ChoiceAnswer(
        choice="yes",
        probabilities={"yes": 0.7, "no": 0.3},
        bounds={"yes": (0.6, 0.8), "no": (0.2, 0.4)},
        raw_probabilities={"yes": 0.9, "no": 0.1},
        label_mass=0.9,
        method="logprobs",
        evidence=Evidence(
            readout="letters", orders=(order, order), flips=1, unseen=("no",), reason="Because."
        ),
    )
    questions = {"q": Choice(criteria={"yes": None, "no": None})}
    results.write([row(0, {"a": [1, "x"]}, answers={"q": answer}, labels={})], questions)

    page = ready(opened(results.make(), hash="#row=0"))
    page.get_by_text("Evidence", exact=True).click()
    said = page.get_by_role("dialog").inner_text()

    for part in (
        "0.700 (0.600 to 0.800)",
        "0.900",
        "order-sensitive",
        "truncated",
        "Because.",
        "Alternatives at the slot",
        '" A"',
        "0.779",
        "abababababababab…",
        '"x"',
    ):
        assert part in said


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(page: Page, dark: bool) -> None:
    """By 4.5 to 1 or more (WCAG AA), wherever there is text: on the page and in the panel."""
    page.emulate_media(color_scheme="dark" if dark else "light")
    for place in ("main", "dialog"):
        if place == "dialog":
            page.get_by_role("grid").press("Enter")
            page.get_by_text("The row", exact=True).click()
        weak = page.evaluate(CONTRAST, place)
        assert weak == []


def test_on_a_phone_nothing_is_wider_than_the_screen(sample_page: Path, opened: Opened) -> None:
    """Neither the page nor the panel of a row scrolls sideways; the filter folds away."""
    page = ready(opened(sample_page, width=400))

    assert page.evaluate("document.documentElement.scrollWidth") == 400
    assert not page.get_by_label("Sort by").is_visible()
    page.get_by_role("button", name="Filter, sort").click()
    page.get_by_label("Sort by").select_option("confidence:0")
    page.locator(".grid-body .grid-row").first.click()
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= 400


def test_hostile_texts_are_text_wherever_they_are(results: Results, opened: Opened) -> None:
    """As id, state, option, label, warning and reason: nothing runs, all of it is seen."""
    texts = [text for text in HOSTILE.values() if text.strip()]
    options = list(dict.fromkeys(texts[:60]))
    questions = {texts[0]: Choice(criteria=dict.fromkeys(options), instructions=texts[1])}
    share = 1 / len(options)
    rows = [
        row(
            index, text, id=f"{index} {text}", labels={texts[0]: options[-1]}, warnings=(text,)
        ).model_copy(
            update={
                "answers": {
                    texts[0]: ChoiceAnswer(
                        choice=options[index % len(options)],
                        probabilities=dict.fromkeys(options, share),
                        evidence=Evidence(reason=text),
                    )
                }
            }
        )
        for index, text in enumerate(texts)
    ]
    results.write(rows, questions)

    page = ready(opened(results.make()))
    page.get_by_role("grid").focus()
    page.keyboard.press("Enter")
    for _ in texts[1:]:
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("dialog").locator("h2")).to_contain_text(str(len(texts) - 1))

    assert page.evaluate("window.hostile") is None
    assert page.locator("main img, main svg[onload], main a, main script").count() == 0
    assert not {"\u202e", "\x1b", "\u200b"} & set(page.evaluate(SEEN))


def test_an_answer_without_probabilities_is_shown_as_one(results: Results, opened: Opened) -> None:
    """A decision model may say what, and not how sure."""
    answers = {"topic": ChoiceAnswer(choice="refund"), "urgent": BooleanAnswer(probability=0.25)}
    results.write([row(0, "x", answers=answers, labels={})])

    page = ready(opened(results.make(), hash="#row=0"))

    assert "no probabilities" in page.get_by_role("dialog").inner_text()
    assert "not asked" in page.locator(".grid-body").inner_text()
