# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Kaiten as a core of LiteX: `add_kaiten(soc)` puts it into a system on chip; `Kaiten` is the core alone, the other two are parts
of the way from its memory port to a memory."""
from .bus import AXI2WishboneBursts, AXIWindow
from .core import PORTS, Kaiten, add_kaiten, configurations, rtl_sources

__all__ = ["PORTS", "AXI2WishboneBursts", "AXIWindow", "Kaiten", "add_kaiten", "configurations", "rtl_sources"]
