"""Make probabilities mean what they say, and say how sure that is."""
