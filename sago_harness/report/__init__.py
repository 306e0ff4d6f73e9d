"""What a run leaves behind: result files, records, and words about them."""
