/* SPDX-License-Identifier: GPL-2.0-only */
/* The words are those after the command's name; gives the exit code. */
int send_bursts(char **argv);
