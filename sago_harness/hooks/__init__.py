"""The wall to the host: with ``backends/``, the only code that imports lm_eval."""
