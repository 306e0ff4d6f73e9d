"""The audit: how well a check tells same meaning from changed meaning, against what people wrote."""
