/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The startup policy `tsl`: a lost SYN or SYN-ACK halves IW and ssthresh, each down to a minimum
 * (tambuwal2018, section 1). The paper states neither the minimum values nor how 3 / 2 is rounded, so
 * both are parameters. */

#define TL_STARTUP_HALVING_PARAMS(X) \
	X(count, iw_min, 1, 1, 65535, "IW is not halved below this, segments") \
	X(count, ssthresh_min, 2, 1, 2147483647, "ssthresh is not halved below this, segments") \
	X(choice, rounding, TL_HALF_DOWN, "down|up", 1, "rounding of half an odd window: 3 gives 1, or 2") \
	X(choice, repeat, TL_OFF, "on|off", 1, "whether each further resend halves again")

enum tl_half { TL_HALF_DOWN = 0, TL_HALF_UP = 1 };

struct TL(startup_halving_params) {
	TL_STARTUP_HALVING_PARAMS(TL_FIELD)
};

struct TL(startup_halving) {
	struct TL(startup_halving_params) params;
};

TL_FN void TL(startup_halving_defaults)(struct TL(startup_halving_params) *p) {
	TL_STARTUP_HALVING_PARAMS(TL_DEFAULT)
}

/* Returns max(least, value / 2^times); each halving rounds down, or up if `up`. Range: up to
 * TL_WINDOW_MAX. */
TL_FN uint32_t TL(startup_halved)(uint32_t value, uint32_t times, uint32_t least, uint32_t up)
{
	uint32_t i;

	for (i = 0; i < times && i < 31; i++)
		value = (value + up) / 2;
	return value > least ? value : least;
}

TL_FN void TL(startup_halving_decide)(const struct TL(startup_halving) *s, const struct tl_handshake *in,
				      struct tl_startup_window *out)
{
	const struct TL(startup_halving_params) *p = &s->params;
	const uint32_t times = p->repeat == TL_ON && in->resends > 1 ? in->resends : 1;
	const uint32_t up = p->rounding == TL_HALF_UP;

	if (in->loss == TL_HANDSHAKE_WHOLE)
		return;
	out->iw_segments = TL(startup_halved)(out->iw_segments, times, p->iw_min, up);
	out->ssthresh_segments = TL(startup_halved)(out->ssthresh_segments, times, p->ssthresh_min, up);
}
