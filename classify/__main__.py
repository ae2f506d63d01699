"""Let `python -m classify` do what the `classify` command does."""

from __future__ import annotations

from importlib import import_module

if __name__ == "__main__":
    # By name: the core imports no adapter.
    import_module("classify.adapters.cli.main").main()
