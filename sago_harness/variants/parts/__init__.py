"""What several operators share; nothing here is an operator."""
