"""Models that need more than an OpenAI-compatible endpoint, one file each."""
