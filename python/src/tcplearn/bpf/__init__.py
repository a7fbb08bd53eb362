# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the BPF programs of this repository share: the compiler, the kernel's conditions, the loader."""
