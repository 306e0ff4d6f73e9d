"""Variants: the same request, said differently, with its literals kept."""
