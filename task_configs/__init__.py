"""The task configurations: one small YAML per data set, found by folder scan."""
