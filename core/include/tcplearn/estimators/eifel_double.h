/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `eifel` in double precision. */
#ifndef TCPLEARN_EIFEL_DOUBLE_H
#define TCPLEARN_EIFEL_DOUBLE_H

#include "../deps.h"

#ifndef TL_NO_F64

TL_FN double tl_ratio_of_counts_f64(uint32_t n, uint32_t d)
{
	return (double)n / (double)d;
}

/* Returns a / r as a duration of normal precision; `a` is a fine duration. */
TL_FN double tl_coarse_over_f64(double a, double r)
{
	return a / r;
}

#endif
#endif
