"""The prediction sets that `calibration_speed.py` times, by us and by MAPIE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
from contests import Contest, Data, known, peer

from classify.calibration.arrays import Floats, Ints
from classify.calibration.prediction_sets import fit_sets
from classify.calibration.set_scores import ScoreName


def sets(d: Data) -> Iterator[Contest]:
    """Return the fit of each rule of sets, and the sets of all rows by it."""
    for score in get_args(ScoreName):
        name = "level interval" if score == "interval" else score.upper()
        fitted = fit_sets(d.log_p, d.y, alpha=0.1, score=score)
        # MAPIE has no intervals of levels, and no APS or RAPS for two options.
        has_it = score == "lac" or (score in ("aps", "raps") and d.k > 2)
        made = _by_mapie(d, score) if has_it else None
        yield Contest(
            f"{name} threshold",
            lambda score=score: fit_sets(d.log_p, d.y, alpha=0.1, score=score),
            known({"MAPIE": made}, lambda make: make().conformalize(d.p, d.y)),
        )
        ready = None if made is None else made().conformalize(d.p, d.y)
        yield Contest(
            f"{name} sets",
            lambda fitted=fitted: fitted.sets(d.log_p),
            known({"MAPIE": ready}, lambda found: found.predict_set(d.p)),
        )


def _by_mapie(d: Data, score: ScoreName) -> Any:
    """Return what makes MAPIE's rule, around a classifier whose input is its output."""
    classifier = peer("mapie.classification", "SplitConformalClassifier")
    base, mixin = peer("sklearn.base", "BaseEstimator"), peer("sklearn.base", "ClassifierMixin")
    if classifier is None:
        return None

    class Given(mixin, base):  # type: ignore[misc, valid-type]  # the bases are found at run time
        """A classifier whose input is its output."""

        classes_: Ints = np.arange(d.k, dtype=np.int64)
        fitted_ = True

        def fit(self, x: Floats, y: Ints) -> Given:
            return self

        def predict(self, x: Floats) -> Ints:
            return x.argmax(axis=1)

        def predict_proba(self, x: Floats) -> Floats:
            return x

    def make() -> Any:
        return classifier(
            Given(), confidence_level=0.9, conformity_score=score, prefit=True, random_state=0
        )

    return make
