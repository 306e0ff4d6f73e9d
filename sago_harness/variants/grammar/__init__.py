"""Grammar of English, for the operators that move words: parses, clauses and word forms."""
