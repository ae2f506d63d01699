"""Rubric classifiers on language models: the distribution, the evidence, the calibration."""
