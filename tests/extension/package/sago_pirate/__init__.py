"""One of each, from outside the project."""
