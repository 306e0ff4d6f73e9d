"""Scores: distances of a document's variants -> its values -> axes and ``sago``."""
