/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks a build with TCPLEARN_CHECK_RANGES: a value at the edge of a stated range is accepted, and one
 * beyond it stops the program. This test is expected to end in that way. */
#include "check.h"
#include "tcplearn/estimators.h"

int main(void)
{
	const int64_t edge = (int64_t)1 << 62;

	CHECK(tl_fix_shr(edge, 2) == (int64_t)1 << 60 && tl_fix_shr(-edge, 32) == -((int64_t)1 << 30), "shr");
	CHECK(tl_fix_mul(edge, (int64_t)1 << 30) == edge, "mul");
	CHECK(tl_fix_fine((int64_t)1 << 42) == (int64_t)1 << 58, "fine");
	if (finish())
		return 1;
	return tl_fix_shr(edge + 1, 2) == 0;
}
