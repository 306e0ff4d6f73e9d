"""The gate: a policy of thresholds, a run, perhaps a baseline, and one answer for a release pipeline."""
