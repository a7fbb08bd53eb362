/* SPDX-License-Identifier: GPL-2.0-only */
/* `argv` has the words after the command's name. Returns the exit code. */
int send_bursts(char **argv);
