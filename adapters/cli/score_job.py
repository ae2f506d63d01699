"""What `classify score` does, once its options are read: a run, then scores and a verdict."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import ClassVar

from rich.console import Group
from rich.text import Text

from classify.adapters.cli.console import FAILED, INTERRUPTED, UNUSABLE, say, show, show_json
from classify.adapters.cli.plain_json import plain
from classify.adapters.cli.run_job import RunJob
from classify.adapters.scorers.eval_figures import Figures
from classify.adapters.scorers.score_spec import ScoreSpec, load_score_spec
from classify.adapters.scorers.scored_results import ScoredResults, score_results, write_scores
from classify.display.safe_text import visible
from classify.json_values import JSON
from classify.results import read_results
from classify.run_summary import RunSummary, summarize
from classify.spec import Spec

_WIDTH = 24


@dataclass(slots=True)
class ScoreJob(RunJob):
    """The options of one run whose answers are scored."""

    added: ClassVar[tuple[str, ...]] = ("scores",)

    max_failures: int = 0

    def _load(self) -> Spec:
        return load_score_spec(self.spec)

    def _report(self, spec: Spec, *, seconds: float) -> int:
        assert isinstance(spec, ScoreSpec)  # as it was loaded
        if self.stopped_by is not None:
            return INTERRUPTED if self.stopped_by == signal.SIGINT else UNUSABLE
        write_scores(self.output, spec)
        scored = score_results(self.output, spec, max_failures=self.max_failures)
        code = self._code(scored)
        answers = summarize(read_results(self.output), spec.questions)
        if self.as_json:
            show_json(self._json(scored, answers, seconds=seconds, code=code))
        else:
            show(_table(scored))
            say(f"results: {self.output}")
        self._warn(scored, answers)
        return code

    def _warn(self, scored: ScoredResults, answers: RunSummary) -> None:
        for name, question in answers.questions.items():
            if len(question.methods) > 1:
                say(f"{name}: answers were read in different ways ({', '.join(question.methods)})")
        if not _any_score(scored):
            say("error: no row has a score", style="red")
        if scored.failed > self.max_failures:
            say(
                f"error: {scored.failed} of {scored.rows} rows have no answer, and at most "
                f"{self.max_failures} may: run again with --resume, or see --max-failures",
                style="red",
            )

    def _code(self, scored: ScoredResults) -> int:
        if scored.failed > self.max_failures or self.counts.stopped_by is not None:
            return UNUSABLE
        if scored.verdict is None and not _any_score(scored):
            return UNUSABLE
        return 0 if scored.verdict in (None, "passed") else FAILED

    def _json(
        self, scored: ScoredResults, answers: RunSummary, *, seconds: float, code: int
    ) -> JSON:
        return {
            "verdict": scored.verdict,
            "exit_code": code,
            "scores": plain(scored.judged.scores),
            "gates": plain(scored.judged.gates),
            "thresholds": plain(scored.judged.thresholds),
            "summary": {"rows": scored.rows, "failed": scored.failed},
            "answers": answers.to_json(),
            "run": {"seconds": seconds, "results": str(self.output)},
        }


def _any_score(scored: ScoredResults) -> bool:
    return any(figures.n for figures in scored.judged.scores.values())


def _table(scored: ScoredResults) -> Group:
    """Return every scorer's figures, then what was held against them."""
    found = scored.judged
    lines = [_line(name, _figures(figures)) for name, figures in found.scores.items()]
    for gate in found.gates:
        missed = f"{gate.missed} of {gate.figures.n} are not" if gate.missed else ""
        text = "; ".join(filter(None, (f"each {gate.limits}", missed, gate.figures.missing)))
        lines.append(_held("gate", gate.id, text, passed=gate.passed))
    for each in found.thresholds:
        text = "; ".join(filter(None, (f"average {each.threshold}", each.figures.missing)))
        lines.append(_held("threshold", each.id, text, passed=each.passed))
    if scored.verdict is not None:
        style = "green" if scored.verdict == "passed" else "red"
        lines.append(Text(f"verdict: {scored.verdict}", style=style))
    return Group(*lines)


def _figures(figures: Figures) -> str:
    parts = [str(figures)]
    if figures.not_scorable:
        parts.append(f"{figures.not_scorable} without a verdict")
    if figures.failed:
        parts.append(f"{figures.failed} failed")
    if figures.direction == "lower":
        parts.append("lower is better")
    return ", ".join(parts)


def _held(what: str, id: str, text: str, *, passed: bool) -> Text:
    word, style = ("passed", "green") if passed else ("FAILED", "red")
    return Text(f"{what} {visible(id)}: {text}: {word}", style=style)


def _line(label: str, value: str) -> Text:
    # A space at least: a scorer's id may be as wide as its column.
    return Text(f"{visible(label):<{_WIDTH - 1}} {value}")
