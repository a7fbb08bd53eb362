# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Round-trip times of places: baddam2018's regression, and the first RTO of a connection."""
