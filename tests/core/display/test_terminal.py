"""What `print` shows of evaluations and answers."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import pytest
from rich.cells import cell_len
from rich.console import Console

from classify import Boolean, Choice, Classifier, Evaluation, Score
from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.display.screen import Screen
from classify.display.terminal import lines
from classify.display.terminal_bars import bar_lines
from classify.display.views import Bar, answer_view
from classify.evidence import Evidence, OrderSeen
from classify.language_model import Prompt, Sampling
from classify.questions import Question
from classify.results import Result, RowError
from classify.testing import ScriptedLanguageModel
from tests.hostile_texts import HOSTILE

QUESTIONS: dict[str, Question] = {
    "topic": Choice(criteria={"delivery": None, "支払い": None, "التوصيل": None}),
    "tone": Score(criteria=["angry", "neutral", "glad"]),
    "urgent": Boolean(),
}


def reply(prompt: Prompt, _: Sampling) -> dict[str, float]:
    """Answer the same to every question, with a label mass below that of an answer."""
    return {token: math.log(p) for token, p in {"A": 0.4, "2": 0.4, "Yes": 0.2}.items()}


@pytest.fixture
def evaluation() -> Evaluation:
    """Answer a choice, a score and a boolean alike."""
    model = ScriptedLanguageModel(reply)
    return Classifier("c", model, QUESTIONS, min_coverage=0.1).evaluate_sync("x")


def shown(thing: object, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """Return the lines as text."""
    return [line.plain for line in lines(thing, Screen(width, encoding))]


def test_an_evaluation_prints_a_bar_for_every_option(evaluation: Evaluation) -> None:
    """With levels named, and what the answers took below."""
    text = str(evaluation)

    assert "topic (choice): delivery" == text.splitlines()[0]
    assert "  2 glad    ████" in text
    assert "100.0 %" in text
    assert "scripted; tokens unknown; 3 requests; " in text.splitlines()[-1]


def test_repr_still_lists_the_fields(evaluation: Evaluation) -> None:
    """It is for programmers, and is one line."""
    assert repr(evaluation).startswith("Evaluation(classifier_id='c', answers={'topic': Choice")


@pytest.mark.parametrize("width", [34, 40, 80, 200])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_no_line_is_wider_than_the_screen(
    evaluation: Evaluation, width: int, encoding: str
) -> None:
    """In cells, whatever the screen can show."""
    found = shown(evaluation, width, encoding)

    assert all(cell_len(line) <= width for line in found)
    assert all(line.encode(encoding) is not None for line in found)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_shown_as_text(name: str) -> None:
    """As question, option, level, message and reason: no line is theirs, none is too wide."""
    text = HOSTILE[name]
    evidence = Evidence(reason=text, warnings=(text,))
    answer = ChoiceAnswer(
        choice=text, probabilities={text: 0.5, "other": 0.5}, tie=True, evidence=evidence
    )
    view = answer_view(text, answer, Choice(criteria={text or "a": None, "other": None}))
    nothing = NoVerdict(kind="score", cause="refusal", message=text, evidence=evidence)

    for thing in (answer, nothing):
        found = shown(thing)
        assert all(cell_len(line) <= 80 for line in found)
        assert all(
            c.isprintable() or c in "\u2068\u2069\u200c\u200d" or ord(c) > 127
            for line in found
            for c in line
        )
    assert view.verdict == text


def test_markup_is_text_on_a_console() -> None:
    """The square brackets of a graded text are no styles and no links."""
    console = Console(width=60)
    answer = ChoiceAnswer(choice="[red]x[/red]", probabilities={"[red]x[/red]": 1.0})

    with console.capture() as captured:
        console.print(answer)

    assert "choice: [red]x[/red]" in captured.get()


def test_a_console_shows_no_colour_when_piped(evaluation: Evaluation) -> None:
    """The same lines as `print`."""
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        console.print(evaluation)

    printed = [line.rstrip() for line in captured.get().splitlines()]
    assert str(evaluation).splitlines() == printed


def test_what_was_asked_changes_neither_json_nor_equality(evaluation: Evaluation) -> None:
    """It is kept by copies and pickles, and absent after reading JSON."""
    read = Evaluation.model_validate_json(evaluation.model_dump_json())

    assert evaluation == read
    assert QUESTIONS == evaluation.questions
    assert {} == read.questions
    assert QUESTIONS == read.with_questions(QUESTIONS).questions
    assert QUESTIONS == evaluation.model_copy(update={"attempts": 9}).questions
    again = pickle.loads(pickle.dumps(evaluation))
    assert (again, again.questions) == (evaluation, QUESTIONS)


def test_printing_is_what_loads_rich() -> None:
    """Importing the answers must not."""
    code = (
        "import sys; from classify.answers import BooleanAnswer as Answer; "
        "a = Answer(probability=1.0); assert 'rich' not in sys.modules; print(a)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "boolean: P(true) = 1.000" == done.stdout.splitlines()[0]


def test_blocks_are_marks_where_the_output_has_none() -> None:
    """And the tail is another mark."""
    bars = (Bar("a", "a", 0.5, 0.25, 0.75, best=True),)

    (line,) = [line.plain for line in bar_lines(bars, Screen(60, "ascii"))]

    assert line.startswith("  a ####")
    assert "#-" in line
    assert line.endswith("50.0 %  25.0 to 75.0")


def test_bounds_go_below_the_bar_where_there_is_no_room() -> None:
    """They are evidence: not left out for want of columns."""
    bars = (Bar("a", "a", 0.5, 0.25, 0.75, best=True),)

    found = [line.plain.split() for line in bar_lines(bars, Screen(34))]

    assert ["25.0", "to", "75.0"] == found[1]


def test_beyond_twenty_options_the_likeliest_are_shown_and_the_others_counted() -> None:
    """In the options' order; `whole` shows all."""
    bars = tuple(Bar(f"o{k}", f"o{k}", k / 780, k / 780, k / 780, best=False) for k in range(40))

    found = [line.plain for line in bar_lines(bars, Screen())]

    assert [f"o{k}" for k in range(20, 40)] == [line.split()[0] for line in found[:-1]]
    # The first twenty have 0 + ... + 19 = 190 of 780, and 19 of 780 at most.
    assert "  20 others: 24.4 % together, 2.4 % at most each" == found[-1]
    assert 40 == len(bar_lines(bars, Screen(), whole=True))


def test_a_calibrated_answer_shows_what_it_was_before() -> None:
    """Beside each option."""
    answer = BooleanAnswer(probability=0.5, raw_probabilities={"true": 0.75, "false": 0.25})

    found = shown(answer)

    assert found[1].endswith("50.0 %  raw 75.0")
    assert found[2].endswith("50.0 %  raw 25.0")


def test_an_answer_that_was_handed_over_shows_what_it_was_before_calibration() -> None:
    """A person decides on it, and wants both numbers."""
    answer = NoVerdict(
        kind="boolean",
        cause="uncertain",
        message="unsure",
        probabilities={"true": 0.5, "false": 0.5},
        raw_probabilities={"true": 0.75, "false": 0.25},
    )

    assert shown(answer)[2].endswith("50.0 %  raw 75.0")


def test_what_was_written_instead_of_an_answer_is_shown() -> None:
    """On one line, whatever it holds."""
    evidence = Evidence(written=("I cannot\ngrade this.",))
    answer = NoVerdict(kind="boolean", cause="no_label", message="no label", evidence=evidence)

    assert shown(answer)[2].endswith(r"wrote 'I cannot\ngrade this.'")


def test_flags_stand_on_lines_of_their_own() -> None:
    """Tie, low mass, order-sensitive, truncated."""
    orders = tuple(
        OrderSeen(labels={}, probabilities={}, label_mass=0.1, prompt_hash="") for _ in range(4)
    )
    evidence = Evidence(readout="letters", orders=orders, flips=1, unseen=("b",))
    answer = ChoiceAnswer(
        choice="a",
        probabilities={"a": 0.5, "b": 0.5},
        tie=True,
        label_mass=0.1,
        evidence=evidence,
    )

    flags = [line for line in shown(answer) if line.startswith("  ! ")]

    assert [
        "  ! tie: another option is exactly as probable",
        "  ! low mass: only 0.1 of the probability on labels",
        "  ! order-sensitive: 1 of 4 orders lead to another option",
        "  ! truncated: 1 option was beyond the alternatives shown: bounded, not measured",
    ] == flags


def test_slots_of_a_tree_are_not_counted_as_orders() -> None:
    """Only the first slot of a listing has no groups above it."""
    orders = tuple(
        OrderSeen(labels={}, probabilities={}, label_mass=0.9, path=path, prompt_hash="")
        for path in ((), ("A",), (), ("B",), ("B", "A"))
    )
    evidence = Evidence(orders=orders, flips=1)
    answer = ChoiceAnswer(choice="a", probabilities={"a": 1.0}, evidence=evidence)

    view = answer_view("q", answer)

    assert "1 of 2 orders lead to another option" == view.flags[0].told
    assert "5 slots of a tree" in view.facts
    assert "2 orders, 1 flip, total variation 0.000" in view.facts


def test_a_result_prints_its_row_its_labels_and_its_answers() -> None:
    """As `read_results` gives them; one that failed says why."""
    answer = BooleanAnswer(probability=0.25)
    result = Result(id="r1", index=0, key=None, answers={"q": answer}, labels={"q": True})
    failed = Result(id="r2", index=1, key=None, error=RowError(type="Lost", message="no line"))

    assert ["row r1; label of q: true", "", "q (boolean): P(true) = 0.250"] == shown(result)[:3]
    assert ["row r2", "no answers: Lost: no line"] == str(failed).splitlines()


def test_a_score_without_probabilities_says_so() -> None:
    """A service may give the expectation alone."""
    assert "no probabilities: " in "\n".join(shown(ScoreAnswer(score=1.5)))
