"""Documents: reading a data set's rows, naming them, and pairing them for chance controls."""
