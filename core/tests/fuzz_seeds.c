/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs a fuzz target (FUZZ_TARGET) without libFuzzer, on the files that are named: seeds, or inputs that a fuzzer
 * found. Without files it uses random bytes from fixed seeds, so that every compiler and sanitizer runs
 * the target. */
#ifndef FUZZ_TARGET
#define FUZZ_TARGET "fuzz_core.c"
#endif
#include FUZZ_TARGET

static void run_file(const char *path)
{
	static uint8_t data[1 << 16];
	FILE *f = fopen(path, "rb");

	CHECK(f != NULL, "%s: can't be read", path);
	if (!f)
		return;
	LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), f));
	fclose(f);
}

int main(int argc, char **argv)
{
	uint64_t seed = 21;
	uint8_t data[512];
	int i, k;

	for (i = 1; i < argc; i++)
		run_file(argv[i]);
	for (i = 0; argc == 1 && i < 20000; i++) {
		for (k = 0; k < (int)sizeof(data); k++)
			data[k] = (uint8_t)random_next(&seed);
		LLVMFuzzerTestOneInput(data, sizeof(data));
	}
	return finish();
}
