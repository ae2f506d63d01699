"""The `classify` command."""
