"""Sago harness: does a language model behave the same when people say the same thing differently?"""
