# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Real Linux TCP over emulated networks, in virtual time: scenario -> guest script -> machine -> rows."""
