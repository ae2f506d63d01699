"""Make probabilities mean what they say, and say how sure that is.

Names are loaded when they are used: importing this package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from classify.calibration.abstention import (
        AbstentionPolicy,
        ConfidencePolicy,
        CostPolicy,
        Decision,
        SetPolicy,
        read_policy,
    )
    from classify.calibration.agreement import Confusion, cohen_kappa, confusion
    from classify.calibration.all_metrics import (
        EveryMetric,
        MetricGroup,
        NamedMetric,
        every_metric,
    )
    from classify.calibration.annotator_test import AltTest, alt_test
    from classify.calibration.artefact import CalibrationArtefact, Fingerprint, make_artefact
    from classify.calibration.artefact_file import load_artefacts, save_artefacts
    from classify.calibration.audit_items import AuditedItems, audited_items
    from classify.calibration.audits import Audit, audit
    from classify.calibration.auto import calibrate
    from classify.calibration.bias import (
        TemperatureBiasCalibrator,
        VectorCalibrator,
        fit_temperature_bias,
        fit_vector,
    )
    from classify.calibration.bias_of_results import result_bias
    from classify.calibration.bias_reports import BiasReport, bias_report, length_bias
    from classify.calibration.binary import BetaCalibrator, PlattCalibrator, fit_beta, fit_platt
    from classify.calibration.calibration_error import (
        debiased_calibration_error,
        expected_calibration_error,
    )
    from classify.calibration.calibrators import CALIBRATORS, Calibrator, chain, identity
    from classify.calibration.choosing import chosen_calibrators
    from classify.calibration.classwise_error import (
        classwise_calibration_error,
        sweep_calibration_error,
    )
    from classify.calibration.comparison import (
        Comparison,
        PairedTest,
        compare,
        holm,
        mcnemar_exact,
        paired_difference,
        sign_flip_test,
    )
    from classify.calibration.confidence_bins import (
        ConfidenceBin,
        ConfidenceHistogram,
        confidence_histogram,
    )
    from classify.calibration.corp import (
        Decomposition,
        corp_brier,
        corp_brier_options,
        corp_log_loss,
    )
    from classify.calibration.cumulative import kolmogorov_smirnov, kuiper, spiegelhalter
    from classify.calibration.discrimination import (
        accuracy,
        augrc,
        aurc,
        auroc,
        auroc_one_vs_one,
        auroc_one_vs_rest,
        excess_aurc,
    )
    from classify.calibration.estimate import Estimate
    from classify.calibration.figure_canvas import Axes, Figure
    from classify.calibration.figures import (
        before_after_figure,
        confidence_figure,
        reliability_figure,
        risk_coverage_figure,
    )
    from classify.calibration.fitted import CalibrationWarning
    from classify.calibration.from_results import (
        CalibratedResults,
        calibrate_results,
        labelled_metrics,
    )
    from classify.calibration.group_bias import GroupBias, subgroup_bias
    from classify.calibration.held_out_answers import HeldOutAnswers, HeldOutMetric
    from classify.calibration.intervals import clopper_pearson, jeffreys, mean_interval, wilson
    from classify.calibration.isotonic import IsotonicCalibrator, fit_isotonic
    from classify.calibration.judge_figures import (
        order_sensitivity_figure,
        ordinal_confusion_figure,
        score_label_figure,
    )
    from classify.calibration.judge_items import JudgedItems, judged_items
    from classify.calibration.judge_reports import JudgeReport, judge_report
    from classify.calibration.label_file import RowLabels, read_label_file
    from classify.calibration.label_scores import (
        LabelledScores,
        ScoresByLabel,
        scores_by_label,
    )
    from classify.calibration.labelled_pictures import (
        labelled_confidence,
        labelled_confusion,
        labelled_reliability,
        labelled_risk_coverage,
        labelled_scores,
    )
    from classify.calibration.level_confusion import OrdinalConfusion, ordinal_confusion
    from classify.calibration.level_shares import LevelUse, level_use
    from classify.calibration.matrix import MatrixCalibrator, fit_matrix
    from classify.calibration.mean_map import IsotonicMeanCalibrator, fit_mean_map
    from classify.calibration.measurement import Measurement
    from classify.calibration.order_effects import (
        OrderSensitivity,
        PositionPreference,
        first_option_preference,
        order_sensitivity,
    )
    from classify.calibration.ordinal import (
        IsotonicMean,
        ProportionalOddsCalibrator,
        fit_isotonic_mean,
        fit_proportional_odds,
    )
    from classify.calibration.ordinal_scores import (
        mean_absolute_error,
        ranked_probability_score,
        summed_ranked_probability_score,
    )
    from classify.calibration.outlook import Outlook, least_handed_over, look_ahead
    from classify.calibration.power import (
        LabelsNeeded,
        labels_for_certificate,
        labels_for_comparison,
        labels_for_corrected_rate,
        labels_for_coverage,
        labels_for_rate,
    )
    from classify.calibration.prediction_powered import PredictionPowered, ppi_mean, ppi_rate
    from classify.calibration.prediction_sets import (
        PredictionSets,
        coverage_range,
        fit_sets,
        fit_sets_by_class,
    )
    from classify.calibration.prevalence import Share, labels_only, rogan_gladen, stratified_rate
    from classify.calibration.prior import PriorCalibrator, fit_batch_prior, fit_content_free_prior
    from classify.calibration.proper_scores import (
        LogLoss,
        brier_score,
        brier_skill,
        half_brier_score,
        log_loss,
        log_loss_skill,
    )
    from classify.calibration.rank_correlation import kendall_tau_b, spearman
    from classify.calibration.rated_results import CalibratedMeans, calibrate_means
    from classify.calibration.rater_agreement import fleiss_kappa, gwet_ac, krippendorff_alpha
    from classify.calibration.rating_errors import RatingMetrics, rating_metrics
    from classify.calibration.reliability import (
        ReliabilityDiagram,
        ReliabilityPoint,
        RiskCoverage,
        coverage_at_risk,
        reliability_diagram,
        risk_coverage,
    )
    from classify.calibration.reliability_regression import CalibrationLine, calibration_line
    from classify.calibration.report import Calibrated, CalibrationReport
    from classify.calibration.result_labels import LabelledAnswers, labelled_results
    from classify.calibration.risk_control import (
        RiskControl,
        ThresholdStep,
        certify_joint_risk,
        control_joint_risk,
        control_selective_risk,
    )
    from classify.calibration.shift import ShiftCalibrator, fit_bbse_shift, fit_em_shift
    from classify.calibration.smooth_error import (
        smooth_calibration_error,
        smooth_calibration_error_at,
    )
    from classify.calibration.summary import Metrics, metrics
    from classify.calibration.svg import before_after_svg, reliability_svg, risk_coverage_svg
    from classify.calibration.temperature import (
        TemperatureCalibrator,
        fit_temperature,
        fit_temperature_mixture,
    )
    from classify.calibration.thresholds import (
        best_actions,
        binary_threshold,
        expected_costs,
        realised_cost,
    )
    from classify.calibration.true_rates import TrueRate, true_rate
    from classify.calibration.venn_abers import VennAbersCalibrator, fit_venn_abers

_MODULES = {
    "abstention": (
        "AbstentionPolicy",
        "ConfidencePolicy",
        "CostPolicy",
        "Decision",
        "SetPolicy",
        "read_policy",
    ),
    "agreement": (
        "Confusion",
        "cohen_kappa",
        "confusion",
    ),
    "all_metrics": (
        "EveryMetric",
        "MetricGroup",
        "NamedMetric",
        "every_metric",
    ),
    "annotator_test": (
        "AltTest",
        "alt_test",
    ),
    "artefact": (
        "CalibrationArtefact",
        "Fingerprint",
        "make_artefact",
    ),
    "artefact_file": (
        "load_artefacts",
        "save_artefacts",
    ),
    "audit_items": (
        "AuditedItems",
        "audited_items",
    ),
    "audits": (
        "Audit",
        "audit",
    ),
    "auto": ("calibrate",),
    "bias": (
        "TemperatureBiasCalibrator",
        "VectorCalibrator",
        "fit_temperature_bias",
        "fit_vector",
    ),
    "bias_of_results": ("result_bias",),
    "bias_reports": (
        "BiasReport",
        "bias_report",
        "length_bias",
    ),
    "binary": (
        "BetaCalibrator",
        "PlattCalibrator",
        "fit_beta",
        "fit_platt",
    ),
    "calibration_error": (
        "debiased_calibration_error",
        "expected_calibration_error",
    ),
    "calibrators": (
        "CALIBRATORS",
        "Calibrator",
        "chain",
        "identity",
    ),
    "choosing": ("chosen_calibrators",),
    "classwise_error": (
        "classwise_calibration_error",
        "sweep_calibration_error",
    ),
    "comparison": (
        "Comparison",
        "PairedTest",
        "compare",
        "holm",
        "mcnemar_exact",
        "paired_difference",
        "sign_flip_test",
    ),
    "confidence_bins": (
        "ConfidenceBin",
        "ConfidenceHistogram",
        "confidence_histogram",
    ),
    "corp": (
        "Decomposition",
        "corp_brier",
        "corp_brier_options",
        "corp_log_loss",
    ),
    "cumulative": (
        "kolmogorov_smirnov",
        "kuiper",
        "spiegelhalter",
    ),
    "discrimination": (
        "accuracy",
        "augrc",
        "aurc",
        "auroc",
        "auroc_one_vs_one",
        "auroc_one_vs_rest",
        "excess_aurc",
    ),
    "estimate": ("Estimate",),
    "figure_canvas": ("Axes", "Figure"),
    "figures": (
        "before_after_figure",
        "confidence_figure",
        "reliability_figure",
        "risk_coverage_figure",
    ),
    "fitted": ("CalibrationWarning",),
    "from_results": (
        "CalibratedResults",
        "calibrate_results",
        "labelled_metrics",
    ),
    "group_bias": (
        "GroupBias",
        "subgroup_bias",
    ),
    "held_out_answers": (
        "HeldOutAnswers",
        "HeldOutMetric",
    ),
    "intervals": (
        "clopper_pearson",
        "jeffreys",
        "mean_interval",
        "wilson",
    ),
    "isotonic": (
        "IsotonicCalibrator",
        "fit_isotonic",
    ),
    "judge_figures": (
        "order_sensitivity_figure",
        "ordinal_confusion_figure",
        "score_label_figure",
    ),
    "judge_items": (
        "JudgedItems",
        "judged_items",
    ),
    "judge_reports": (
        "JudgeReport",
        "judge_report",
    ),
    "label_file": (
        "RowLabels",
        "read_label_file",
    ),
    "label_scores": (
        "LabelledScores",
        "ScoresByLabel",
        "scores_by_label",
    ),
    "labelled_pictures": (
        "labelled_confidence",
        "labelled_confusion",
        "labelled_reliability",
        "labelled_risk_coverage",
        "labelled_scores",
    ),
    "level_shares": (
        "LevelUse",
        "level_use",
    ),
    "matrix": (
        "MatrixCalibrator",
        "fit_matrix",
    ),
    "mean_map": (
        "IsotonicMeanCalibrator",
        "fit_mean_map",
    ),
    "measurement": ("Measurement",),
    "order_effects": (
        "OrderSensitivity",
        "PositionPreference",
        "first_option_preference",
        "order_sensitivity",
    ),
    "ordinal": (
        "IsotonicMean",
        "ProportionalOddsCalibrator",
        "fit_isotonic_mean",
        "fit_proportional_odds",
    ),
    "level_confusion": (
        "OrdinalConfusion",
        "ordinal_confusion",
    ),
    "ordinal_scores": (
        "mean_absolute_error",
        "ranked_probability_score",
        "summed_ranked_probability_score",
    ),
    "outlook": (
        "Outlook",
        "least_handed_over",
        "look_ahead",
    ),
    "power": (
        "LabelsNeeded",
        "labels_for_certificate",
        "labels_for_comparison",
        "labels_for_corrected_rate",
        "labels_for_coverage",
        "labels_for_rate",
    ),
    "prediction_powered": (
        "PredictionPowered",
        "ppi_mean",
        "ppi_rate",
    ),
    "prediction_sets": (
        "PredictionSets",
        "coverage_range",
        "fit_sets",
        "fit_sets_by_class",
    ),
    "prevalence": (
        "Share",
        "labels_only",
        "rogan_gladen",
        "stratified_rate",
    ),
    "prior": (
        "PriorCalibrator",
        "fit_batch_prior",
        "fit_content_free_prior",
    ),
    "proper_scores": (
        "LogLoss",
        "brier_score",
        "brier_skill",
        "half_brier_score",
        "log_loss",
        "log_loss_skill",
    ),
    "rank_correlation": (
        "kendall_tau_b",
        "spearman",
    ),
    "rated_results": (
        "CalibratedMeans",
        "calibrate_means",
    ),
    "rater_agreement": (
        "fleiss_kappa",
        "gwet_ac",
        "krippendorff_alpha",
    ),
    "rating_errors": (
        "RatingMetrics",
        "rating_metrics",
    ),
    "reliability": (
        "ReliabilityDiagram",
        "ReliabilityPoint",
        "RiskCoverage",
        "coverage_at_risk",
        "reliability_diagram",
        "risk_coverage",
    ),
    "reliability_regression": (
        "CalibrationLine",
        "calibration_line",
    ),
    "report": (
        "Calibrated",
        "CalibrationReport",
    ),
    "result_labels": (
        "LabelledAnswers",
        "labelled_results",
    ),
    "risk_control": (
        "RiskControl",
        "ThresholdStep",
        "certify_joint_risk",
        "control_joint_risk",
        "control_selective_risk",
    ),
    "shift": (
        "ShiftCalibrator",
        "fit_bbse_shift",
        "fit_em_shift",
    ),
    "smooth_error": (
        "smooth_calibration_error",
        "smooth_calibration_error_at",
    ),
    "summary": (
        "Metrics",
        "metrics",
    ),
    "svg": (
        "before_after_svg",
        "reliability_svg",
        "risk_coverage_svg",
    ),
    "temperature": (
        "TemperatureCalibrator",
        "fit_temperature",
        "fit_temperature_mixture",
    ),
    "thresholds": (
        "best_actions",
        "binary_threshold",
        "expected_costs",
        "realised_cost",
    ),
    "true_rates": (
        "TrueRate",
        "true_rate",
    ),
    "venn_abers": (
        "VennAbersCalibrator",
        "fit_venn_abers",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "CALIBRATORS",
    "AbstentionPolicy",
    "AltTest",
    "Audit",
    "AuditedItems",
    "Axes",
    "BetaCalibrator",
    "BiasReport",
    "Calibrated",
    "CalibratedMeans",
    "CalibratedResults",
    "CalibrationArtefact",
    "CalibrationLine",
    "CalibrationReport",
    "CalibrationWarning",
    "Calibrator",
    "Comparison",
    "ConfidenceBin",
    "ConfidenceHistogram",
    "ConfidencePolicy",
    "Confusion",
    "CostPolicy",
    "Decision",
    "Decomposition",
    "Estimate",
    "EveryMetric",
    "Figure",
    "Fingerprint",
    "GroupBias",
    "HeldOutAnswers",
    "HeldOutMetric",
    "IsotonicCalibrator",
    "IsotonicMean",
    "IsotonicMeanCalibrator",
    "JudgeReport",
    "JudgedItems",
    "LabelledAnswers",
    "LabelledScores",
    "LabelsNeeded",
    "LevelUse",
    "LogLoss",
    "MatrixCalibrator",
    "Measurement",
    "MetricGroup",
    "Metrics",
    "NamedMetric",
    "OrderSensitivity",
    "OrdinalConfusion",
    "Outlook",
    "PairedTest",
    "PlattCalibrator",
    "PositionPreference",
    "PredictionPowered",
    "PredictionSets",
    "PriorCalibrator",
    "ProportionalOddsCalibrator",
    "RatingMetrics",
    "ReliabilityDiagram",
    "ReliabilityPoint",
    "RiskControl",
    "RiskCoverage",
    "RowLabels",
    "ScoresByLabel",
    "SetPolicy",
    "Share",
    "ShiftCalibrator",
    "TemperatureBiasCalibrator",
    "TemperatureCalibrator",
    "ThresholdStep",
    "TrueRate",
    "VectorCalibrator",
    "VennAbersCalibrator",
    "accuracy",
    "alt_test",
    "audit",
    "audited_items",
    "augrc",
    "aurc",
    "auroc",
    "auroc_one_vs_one",
    "auroc_one_vs_rest",
    "before_after_figure",
    "before_after_svg",
    "best_actions",
    "bias_report",
    "binary_threshold",
    "brier_score",
    "brier_skill",
    "calibrate",
    "calibrate_means",
    "calibrate_results",
    "calibration_line",
    "certify_joint_risk",
    "chain",
    "chosen_calibrators",
    "classwise_calibration_error",
    "clopper_pearson",
    "cohen_kappa",
    "compare",
    "confidence_figure",
    "confidence_histogram",
    "confusion",
    "control_joint_risk",
    "control_selective_risk",
    "corp_brier",
    "corp_brier_options",
    "corp_log_loss",
    "coverage_at_risk",
    "coverage_range",
    "debiased_calibration_error",
    "every_metric",
    "excess_aurc",
    "expected_calibration_error",
    "expected_costs",
    "first_option_preference",
    "fit_batch_prior",
    "fit_bbse_shift",
    "fit_beta",
    "fit_content_free_prior",
    "fit_em_shift",
    "fit_isotonic",
    "fit_isotonic_mean",
    "fit_matrix",
    "fit_mean_map",
    "fit_platt",
    "fit_proportional_odds",
    "fit_sets",
    "fit_sets_by_class",
    "fit_temperature",
    "fit_temperature_bias",
    "fit_temperature_mixture",
    "fit_vector",
    "fit_venn_abers",
    "fleiss_kappa",
    "gwet_ac",
    "half_brier_score",
    "holm",
    "identity",
    "jeffreys",
    "judge_report",
    "judged_items",
    "kendall_tau_b",
    "kolmogorov_smirnov",
    "krippendorff_alpha",
    "kuiper",
    "labelled_confidence",
    "labelled_confusion",
    "labelled_metrics",
    "labelled_reliability",
    "labelled_results",
    "labelled_risk_coverage",
    "labelled_scores",
    "labels_for_certificate",
    "labels_for_comparison",
    "labels_for_corrected_rate",
    "labels_for_coverage",
    "labels_for_rate",
    "labels_only",
    "least_handed_over",
    "length_bias",
    "level_use",
    "load_artefacts",
    "log_loss",
    "log_loss_skill",
    "look_ahead",
    "make_artefact",
    "mcnemar_exact",
    "mean_absolute_error",
    "mean_interval",
    "metrics",
    "order_sensitivity",
    "order_sensitivity_figure",
    "ordinal_confusion",
    "ordinal_confusion_figure",
    "paired_difference",
    "ppi_mean",
    "ppi_rate",
    "ranked_probability_score",
    "rating_metrics",
    "read_label_file",
    "read_policy",
    "realised_cost",
    "reliability_diagram",
    "reliability_figure",
    "reliability_svg",
    "result_bias",
    "risk_coverage",
    "risk_coverage_figure",
    "risk_coverage_svg",
    "rogan_gladen",
    "save_artefacts",
    "score_label_figure",
    "scores_by_label",
    "sign_flip_test",
    "smooth_calibration_error",
    "smooth_calibration_error_at",
    "spearman",
    "spiegelhalter",
    "stratified_rate",
    "subgroup_bias",
    "summed_ranked_probability_score",
    "sweep_calibration_error",
    "true_rate",
    "wilson",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
