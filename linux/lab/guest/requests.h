/* SPDX-License-Identifier: GPL-2.0-only */
/* `argv` has the words after the command's name. Each returns the exit code. */
int answer(char **argv);
int send_requests(char **argv);
