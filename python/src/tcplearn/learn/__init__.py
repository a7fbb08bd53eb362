# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Train the core's models, and export them into the core's C headers."""
