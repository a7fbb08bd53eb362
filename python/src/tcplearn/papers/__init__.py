# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The papers' figures drawn again from the runs that exist, beside the numbers they print."""
