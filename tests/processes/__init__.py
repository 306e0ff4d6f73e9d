"""Runs shared out over real processes: joined over gloo, on this machine's processor."""
