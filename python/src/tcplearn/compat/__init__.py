# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Adapt tcplearn's algorithms to the interfaces of other libraries."""
