"""What cells show of answers, evaluations, results, questions, classifiers and runs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from classify import (
    Boolean,
    BooleanAnswer,
    Choice,
    ChoiceAnswer,
    Classifier,
    Evaluation,
    NoVerdict,
    Question,
    QuestionSet,
    ResponseInfo,
    Score,
    ScoreAnswer,
    ask,
)
from classify.answers import AnyAnswer
from classify.display.card_sizes import LIMIT
from classify.display.notebook import Shown
from classify.evaluation import TotalUsage
from classify.evidence import Evidence
from classify.language_model import Prompt, Sampling
from classify.openai_compatible import OpenAICompatible
from classify.results import Result, RowError
from classify.run_summary import summarize
from classify.testing import ScriptedLanguageModel
from tests.hostile_texts import HOSTILE
from tests.notebook_cells import bundle, tree, words

QUESTIONS: dict[str, Question] = {
    "topic": Choice(criteria={"delivery": "parcels", "refund": None}),
    "tone": Score(criteria=["angry", "neutral", "glad"]),
    "urgent": Boolean(instructions="Does it need an answer today?"),
}
ANSWERS: dict[str, AnyAnswer] = {
    "topic": ChoiceAnswer(
        choice="delivery",
        probabilities={"delivery": 0.625, "refund": 0.375},
        bounds={"delivery": (0.6, 0.7), "refund": (0.3, 0.4)},
        raw_probabilities={"delivery": 0.9, "refund": 0.1},
        label_mass=0.25,
        evidence=Evidence(readout="letters", reason="the parcel\nis late", warnings=("careful",)),
    ),
    "tone": ScoreAnswer(score=0.5, probabilities={"0": 0.625, "1": 0.25, "2": 0.125}),
    "urgent": NoVerdict(kind="boolean", cause="refusal", message="it would rather not"),
}


def evaluation(answers: Mapping[str, AnyAnswer] = ANSWERS) -> Evaluation:
    """Return an evaluation that knows its questions."""
    return Evaluation(
        classifier_id="support",
        answers=dict(answers),
        usage=TotalUsage(input_tokens=30, output_tokens=3),
        warnings=("slow today",),
        response=ResponseInfo(model_id="model-1"),
        attempts=3,
        seconds=1.25,
    ).with_questions({**dict.fromkeys(answers, Boolean()), **QUESTIONS})


def classifier() -> Classifier:
    """Return a classifier whose model answers A to everything."""

    def reply(_: Prompt, __: Sampling) -> dict[str, float]:
        return {"A": math.log(0.9)}

    return Classifier("support", ScriptedLanguageModel(reply), QUESTIONS, orders=2)


def test_an_evaluation_shows_its_answers_with_all_that_they_rest_on() -> None:
    """Verdicts, probabilities, bounds, flags, levels in words, and what it took."""
    seen = words(evaluation())

    for text in (
        *("topic (choice)", "delivery", "62.5 %", "60.0 to 70.0 %", "90.0 %", "low mass"),
        *("label mass 0.25", "the parcel\nis late", "careful", "0 angry", "2 glad", "0.500"),
        *("no verdict (refusal)", "it would rather not", "model-1", "30 tokens in, 3 out"),
        *("3 requests", "1.25 s", "slow today"),
    ):
        assert text in seen


@pytest.mark.parametrize("shown", [evaluation(), *ANSWERS.values()], ids=lambda s: type(s).__name__)
def test_plain_text_is_what_print_shows(shown: Evaluation | AnyAnswer) -> None:
    """There is one way to show bars as text."""
    assert bundle(shown)["text/plain"] == str(shown)


def test_plain_text_of_any_length_is_cut_where_print_would_show_it_all() -> None:
    """A notebook keeps both formats of every output."""
    answer = BooleanAnswer(probability=0.5, evidence=Evidence(reason="x" * 1_000_000))

    plain = bundle(answer)["text/plain"]

    assert len(str(answer)) > 1_000_000 > LIMIT > len(plain.encode())
    assert "more characters" in plain and "50.0 %" in plain


def test_only_the_formats_asked_for_are_made() -> None:
    """IPython says which it can show."""
    shown = ANSWERS["tone"]

    assert set(bundle(shown)) == {"text/html", "text/plain"}
    assert set(bundle(shown, include={"text/plain"})) == {"text/plain"}
    assert set(bundle(shown, exclude={"text/plain"})) == {"text/html"}
    assert bundle(shown, include={"image/png"}) == {}


def test_a_tie_and_an_answer_without_probabilities_say_so() -> None:
    """Each is easily overlooked."""
    even = {"a": 0.5, "b": 0.5}

    assert "exactly as probable" in words(ChoiceAnswer(choice="a", probabilities=even, tie=True))
    assert "without probabilities" in words(ChoiceAnswer(choice="a"))


def test_many_questions_have_a_line_each() -> None:
    """And those that do not fit are counted."""
    many: dict[str, AnyAnswer] = {f"q{k}": BooleanAnswer(probability=k / 200) for k in range(200)}

    root = tree(evaluation(many))

    rows = ["".join(row.itertext()) for row in root.findall(".//tbody/tr")]
    assert rows[0] == "q0P(true) = 0.000100.0 %"
    assert rows[-1] == f"… {200 - len(rows) + 1} more questions"


def test_a_result_shows_its_state_its_labels_and_its_answers() -> None:
    """What was judged stands above what came of it."""
    result = Result(
        id="m1", index=0, key=None, state={"text": "<b>"}, answers=ANSWERS,
        labels={"topic": "refund", "tone": 1.0, "urgent": True}, label_problems={"x": "no level"},
    )  # fmt: skip

    seen = words(result)

    for text in ("m1", '"text": "<b>"', "label of tone", "true", "refund", "no level", "62.5 %"):
        assert text in seen


def test_a_result_without_answers_shows_its_error() -> None:
    """And no state where none was kept."""
    error = RowError(type="ProviderError", message="too busy", status=503)
    seen = words(Result(id="m2", index=1, key=None, error=error))

    assert "ProviderError, status 503" in seen and "too busy" in seen
    assert "state" not in seen


def test_a_question_set_shows_its_answers_with_their_levels() -> None:
    """Under the name of its class, a no-verdict included."""

    class Ticket(QuestionSet):
        tone = ask(Score(criteria=["angry", "neutral", "glad"]))
        urgent = ask(Boolean())

    seen = words(evaluation({name: ANSWERS[name] for name in ("tone", "urgent")}).read(Ticket))

    assert "Ticket" in seen and "1 neutral" in seen and "refusal" in seen


def test_questions_show_their_options_with_descriptions_and_words() -> None:
    """And what is asked."""
    words_of = {"delivery": ["delivery", "shipping"], "refund": "refund"}
    choice = Choice(
        instructions="What is it about?", criteria={"delivery": "parcels", "refund": None},
        words=words_of, cue="Subject:",
    )  # fmt: skip

    seen = words(choice)

    for text in ("Choice", "What is it about?", "parcels", "delivery, shipping", "Subject:"):
        assert text in seen
    assert "bad, good" in words(Score(criteria=["1", "2", "3"], words=["bad", "good"]))


def test_a_classifier_shows_its_model_options_and_questions() -> None:
    """And its fingerprint, which says whether two are the same."""
    shown = classifier()

    seen = words(shown)

    for text in (
        *("support", "scripted", "orders=2", shown.fingerprint, "topic (choice)", "parcels"),
        *("Does it need an answer today?", "angry"),
    ):
        assert text in seen


def test_a_classifier_shows_no_key_and_no_address() -> None:
    """Notebooks are shared."""
    model = OpenAICompatible(
        "model-1", base_url="https://inner.example.org/v1", api_key="sk-secret",
        settings={"user": "secret-user"},
    )  # fmt: skip
    shown = Classifier("c", model, QUESTIONS)

    for text in bundle(shown).values():
        assert "model-1" in text
        assert "secret" not in text and "inner.example.org" not in text


def test_many_questions_of_a_classifier_have_a_line_each() -> None:
    """With 255 options each they would not fit."""
    wide = Choice(criteria={f"option {k}": "described " * 20 for k in range(255)})
    shown = Classifier("c", ScriptedLanguageModel(), {f"q{k}": wide for k in range(200)})

    assert "255" in words(shown) and "more questions" in words(shown)


def test_a_run_shows_counts_beside_every_mean() -> None:
    """The rows that failed, and those without a verdict, too."""
    results = [
        Result(id="a", index=0, answers=ANSWERS, key=None, labels={"topic": "refund"}),
        Result(id="b", index=1, key=None, error=RowError(type="ModelError", message="<gone>")),
    ]

    seen = words(summarize(results, QUESTIONS))

    for text in (
        *("1 of 2 rows failed", "1 of 2", "refusal 1", "0.625 (n=1)", "0 of 1"),
        *("1 row failed: ModelError; the first: <gone>", "1 of 1"),
    ):
        assert text in seen


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_and_reasons_are_text_in_every_card(name: str) -> None:
    """Nothing that a model or a user wrote is markup."""
    text = HOSTILE[name].replace("\ufffe", "").replace("\uffff", "") or "x"
    if not text.strip():
        text += "x"
    question = Choice(criteria={text: text, "other": None}, instructions=text)
    answer = ChoiceAnswer(
        choice=text,
        probabilities={text: 0.75, "other": 0.25},
        evidence=Evidence(reason=text, warnings=(text,), unseen=(text,)),
    )
    response = ResponseInfo(model_id=text)
    shown: list[Shown] = [
        question,
        answer,
        NoVerdict(kind="choice", cause="declined", message=text),
        Result(id=text, index=0, key=None, state=text, answers={text: answer}, response=response),
        Classifier(text, ScriptedLanguageModel(), {text: question}),
    ]

    for each in shown:
        root = tree(each)
        assert not {"script", "img", "svg", "a", "h1"} & {element.tag for element in root.iter()}
        assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
