"""Adapters: models, scorers, the command line and whatever else stands around the core."""
