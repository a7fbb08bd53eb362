/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `tracking` in double precision. */
#ifndef TCPLEARN_TRACKING_DOUBLE_H
#define TCPLEARN_TRACKING_DOUBLE_H

#include "../arithmetic/weights_double.h"

#ifndef TL_NO_F64

/* Returns the mean of x, weighted by the positive values of w; `fallback` if no value of w is positive. */
TL_FN double tl_positive_mean_f64(const double *w, const double *x, uint32_t n, double fallback)
{
	double sum = 0, dot = 0;
	uint32_t k;

	for (k = 0; k < n; k++) {
		double v = w[k] > 0 ? w[k] : 0;
		sum += v;
		dot += v * x[k];
	}
	return sum > 0 ? dot / sum : fallback;
}

/* Returns the same as tl_positive_mean_f64(); `sum` is the sum of the positive values of w. */
TL_FN double tl_summed_mean_f64(const double *w, const double *x, uint32_t n, double fallback, double sum)
{
	double dot = 0;
	uint32_t k;

	for (k = 0; k < n; k++)
		dot += w[k] > 0 ? w[k] * x[k] : 0;
	return sum > 0 ? dot / sum : fallback;
}

/* Returns part / (part + rest). Range: part > 0. */
TL_FN double tl_share_of_f64(double part, double rest)
{
	return part / (part + rest);
}

/* Returns c + error * distance / scale^2 / 32, clamped to [-1, 1]. */
TL_FN double tl_correction_step_f64(double c, double error, double distance, double scale)
{
	double next = c + error / scale * (distance / scale) / 32;

	return next < -1 ? -1 : next > 1 ? 1 : next;
}

/* Returns an error as a multiple of `scale`. */
TL_FN tl_loss_f64 tl_loss_in_scales_f64(double error, double scale)
{
	return error / scale;
}

#endif
#endif
