# What the package offers: for type checkers, and for lazy_loader, which imports a name once it is
# used and reads relative imports only.

from .abstention import (
    AbstentionPolicy as AbstentionPolicy,
    ConfidencePolicy as ConfidencePolicy,
    CostPolicy as CostPolicy,
    Decision as Decision,
    SetPolicy as SetPolicy,
    confidences as confidences,
    read_policy as read_policy,
)
from .agreement import Confusion as Confusion, cohen_kappa as cohen_kappa, confusion as confusion
from .all_metrics import (
    EveryMetric as EveryMetric,
    MetricGroup as MetricGroup,
    NamedMetric as NamedMetric,
    every_metric as every_metric,
)
from .annotator_test import AltTest as AltTest, alt_test as alt_test
from .artefact import (
    CalibrationArtefact as CalibrationArtefact,
    Fingerprint as Fingerprint,
    make_artefact as make_artefact,
)
from .artefact_file import load_artefacts as load_artefacts, save_artefacts as save_artefacts
from .audit_items import AuditedItems as AuditedItems, audited_items as audited_items
from .audits import Audit as Audit, audit as audit
from .auto import calibrate as calibrate
from .bias import (
    TemperatureBiasCalibrator as TemperatureBiasCalibrator,
    VectorCalibrator as VectorCalibrator,
    fit_temperature_bias as fit_temperature_bias,
    fit_vector as fit_vector,
)
from .bias_of_results import result_bias as result_bias
from .bias_reports import (
    BiasReport as BiasReport,
    bias_report as bias_report,
    length_bias as length_bias,
)
from .binary import (
    BetaCalibrator as BetaCalibrator,
    PlattCalibrator as PlattCalibrator,
    fit_beta as fit_beta,
    fit_platt as fit_platt,
)
from .binning import EqualMass as EqualMass, EqualWidth as EqualWidth
from .calibration_error import (
    debiased_calibration_error as debiased_calibration_error,
    expected_calibration_error as expected_calibration_error,
    maximum_calibration_error as maximum_calibration_error,
)
from .calibrators import (
    CALIBRATORS as CALIBRATORS,
    Calibrator as Calibrator,
    chain as chain,
    identity as identity,
)
from .choosing import chosen_calibrators as chosen_calibrators
from .classwise_error import (
    classwise_calibration_error as classwise_calibration_error,
    sweep_calibration_error as sweep_calibration_error,
)
from .comparison import (
    Comparison as Comparison,
    PairedTest as PairedTest,
    compare as compare,
    holm as holm,
    mcnemar_exact as mcnemar_exact,
    paired_difference as paired_difference,
    sign_flip_test as sign_flip_test,
)
from .confidence_bins import (
    ConfidenceBin as ConfidenceBin,
    ConfidenceHistogram as ConfidenceHistogram,
    confidence_histogram as confidence_histogram,
)
from .corp import (
    Decomposition as Decomposition,
    corp_brier as corp_brier,
    corp_brier_options as corp_brier_options,
    corp_log_loss as corp_log_loss,
)
from .cumulative import (
    kolmogorov_smirnov as kolmogorov_smirnov,
    kuiper as kuiper,
    spiegelhalter as spiegelhalter,
)
from .discrimination import (
    accuracy as accuracy,
    augrc as augrc,
    aurc as aurc,
    auroc as auroc,
    auroc_one_vs_one as auroc_one_vs_one,
    auroc_one_vs_rest as auroc_one_vs_rest,
    excess_aurc as excess_aurc,
)
from .estimate import Estimate as Estimate
from .figure_canvas import Axes as Axes, Figure as Figure
from .figures import (
    before_after_figure as before_after_figure,
    confidence_figure as confidence_figure,
    reliability_figure as reliability_figure,
    risk_coverage_figure as risk_coverage_figure,
)
from .fitted import CalibrationWarning as CalibrationWarning
from .from_results import (
    CalibratedResults as CalibratedResults,
    calibrate_results as calibrate_results,
    labelled_metrics as labelled_metrics,
)
from .group_bias import GroupBias as GroupBias, subgroup_bias as subgroup_bias
from .held_out_answers import HeldOutAnswers as HeldOutAnswers, HeldOutMetric as HeldOutMetric
from .intervals import (
    clopper_pearson as clopper_pearson,
    jeffreys as jeffreys,
    mean_interval as mean_interval,
    wilson as wilson,
)
from .isotonic import IsotonicCalibrator as IsotonicCalibrator, fit_isotonic as fit_isotonic
from .judge_figures import (
    order_sensitivity_figure as order_sensitivity_figure,
    ordinal_confusion_figure as ordinal_confusion_figure,
    score_label_figure as score_label_figure,
)
from .judge_items import JudgedItems as JudgedItems, judged_items as judged_items
from .judge_reports import JudgeReport as JudgeReport, judge_report as judge_report
from .label_file import RowLabels as RowLabels, read_label_file as read_label_file
from .label_scores import (
    LabelledScores as LabelledScores,
    ScoresByLabel as ScoresByLabel,
    scores_by_label as scores_by_label,
)
from .labelled_pictures import (
    labelled_confidence as labelled_confidence,
    labelled_confusion as labelled_confusion,
    labelled_reliability as labelled_reliability,
    labelled_risk_coverage as labelled_risk_coverage,
    labelled_scores as labelled_scores,
)
from .level_confusion import (
    OrdinalConfusion as OrdinalConfusion,
    ordinal_confusion as ordinal_confusion,
)
from .level_shares import LevelUse as LevelUse, level_use as level_use
from .matrix import MatrixCalibrator as MatrixCalibrator, fit_matrix as fit_matrix
from .mean_map import IsotonicMeanCalibrator as IsotonicMeanCalibrator, fit_mean_map as fit_mean_map
from .measurement import Measurement as Measurement
from .order_effects import (
    OrderSensitivity as OrderSensitivity,
    PositionPreference as PositionPreference,
    first_option_preference as first_option_preference,
    order_sensitivity as order_sensitivity,
)
from .ordinal import (
    IsotonicMean as IsotonicMean,
    ProportionalOddsCalibrator as ProportionalOddsCalibrator,
    fit_isotonic_mean as fit_isotonic_mean,
    fit_proportional_odds as fit_proportional_odds,
)
from .ordinal_scores import (
    mean_absolute_error as mean_absolute_error,
    ranked_probability_score as ranked_probability_score,
    summed_ranked_probability_score as summed_ranked_probability_score,
)
from .outlook import (
    Outlook as Outlook,
    least_handed_over as least_handed_over,
    look_ahead as look_ahead,
)
from .power import (
    LabelsNeeded as LabelsNeeded,
    labels_for_certificate as labels_for_certificate,
    labels_for_comparison as labels_for_comparison,
    labels_for_corrected_rate as labels_for_corrected_rate,
    labels_for_coverage as labels_for_coverage,
    labels_for_rate as labels_for_rate,
)
from .prediction_powered import (
    PredictionPowered as PredictionPowered,
    ppi_mean as ppi_mean,
    ppi_rate as ppi_rate,
)
from .prediction_sets import (
    PredictionSets as PredictionSets,
    coverage_range as coverage_range,
    fit_sets as fit_sets,
    fit_sets_by_class as fit_sets_by_class,
)
from .prevalence import (
    Share as Share,
    labels_only as labels_only,
    rogan_gladen as rogan_gladen,
    stratified_rate as stratified_rate,
)
from .prior import (
    PriorCalibrator as PriorCalibrator,
    fit_batch_prior as fit_batch_prior,
    fit_content_free_prior as fit_content_free_prior,
)
from .proper_scores import (
    LogLoss as LogLoss,
    brier_score as brier_score,
    brier_skill as brier_skill,
    half_brier_score as half_brier_score,
    log_loss as log_loss,
    log_loss_skill as log_loss_skill,
)
from .rank_correlation import kendall_tau_b as kendall_tau_b, spearman as spearman
from .rated_results import CalibratedMeans as CalibratedMeans, calibrate_means as calibrate_means
from .rater_agreement import (
    fleiss_kappa as fleiss_kappa,
    gwet_ac as gwet_ac,
    krippendorff_alpha as krippendorff_alpha,
)
from .rating_errors import RatingMetrics as RatingMetrics, rating_metrics as rating_metrics
from .reliability import (
    ReliabilityDiagram as ReliabilityDiagram,
    ReliabilityPoint as ReliabilityPoint,
    RiskCoverage as RiskCoverage,
    coverage_at_risk as coverage_at_risk,
    reliability_diagram as reliability_diagram,
    risk_coverage as risk_coverage,
)
from .reliability_regression import (
    CalibrationLine as CalibrationLine,
    calibration_line as calibration_line,
)
from .repeat_noise import RepeatNoise as RepeatNoise, repeat_noise as repeat_noise
from .report import Calibrated as Calibrated, CalibrationReport as CalibrationReport
from .result_labels import LabelledAnswers as LabelledAnswers, labelled_results as labelled_results
from .risk_control import (
    RiskControl as RiskControl,
    ThresholdStep as ThresholdStep,
    certify_joint_risk as certify_joint_risk,
    control_joint_risk as control_joint_risk,
    control_selective_risk as control_selective_risk,
)
from .set_scores import SetScore as SetScore
from .shift import (
    ShiftCalibrator as ShiftCalibrator,
    fit_bbse_shift as fit_bbse_shift,
    fit_em_shift as fit_em_shift,
)
from .smooth_error import (
    smooth_calibration_error as smooth_calibration_error,
    smooth_calibration_error_at as smooth_calibration_error_at,
)
from .summary import Metrics as Metrics, metrics as metrics
from .svg import (
    before_after_svg as before_after_svg,
    reliability_svg as reliability_svg,
    risk_coverage_svg as risk_coverage_svg,
)
from .temperature import (
    TemperatureCalibrator as TemperatureCalibrator,
    fit_temperature as fit_temperature,
    fit_temperature_mixture as fit_temperature_mixture,
)
from .thresholds import (
    best_actions as best_actions,
    binary_threshold as binary_threshold,
    expected_costs as expected_costs,
    realised_cost as realised_cost,
)
from .true_rates import TrueRate as TrueRate, true_rate as true_rate
from .venn_abers import VennAbersCalibrator as VennAbersCalibrator, fit_venn_abers as fit_venn_abers
