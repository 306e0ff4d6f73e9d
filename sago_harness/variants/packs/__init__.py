"""Packs: variants frozen into a file, hashed, read back, checked again."""
