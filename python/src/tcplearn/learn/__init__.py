# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Train the models of the C core (loss classifiers, first RTO) and export them into its C headers."""
