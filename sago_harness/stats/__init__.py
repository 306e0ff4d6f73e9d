"""Statistics: score tables -> results with their uncertainty. Reads tables only, never a model."""
