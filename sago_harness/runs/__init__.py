"""Runs: folders that the host wrote -> score tables. Reads files only, never a model."""
