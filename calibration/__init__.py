"""Make probabilities mean what they say, and say how sure that is.

Names are loaded when they are used: importing this package is cheap. They stand in `__init__.pyi`.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
