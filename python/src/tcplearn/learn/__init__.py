# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Training of the core's models, and their export into the core."""
