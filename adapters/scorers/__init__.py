"""Scorers: an answer, or a pipeline of steps, as one number between 0 and 1 with its evidence."""
