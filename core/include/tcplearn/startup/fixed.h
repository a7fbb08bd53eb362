/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The startup policy `standard`: a lost SYN or SYN-ACK sets both windows to fixed values, IW 1 and
 * ssthresh 2 segments (RFC 5681, 3.1; tambuwal2018, section 1). Its presets are the variants that
 * tambuwal2018 studied. */

#define TL_STARTUP_FIXED_PARAMS(X) \
	X(count, iw, 1, 1, 65535, "IW after a loss, segments (RFC 5681, 3.1: 1)") \
	X(count, ssthresh, 2, 1, 2147483647, "ssthresh after a loss, segments (tambuwal2018: 2)")

struct TL(startup_fixed_params) {
	TL_STARTUP_FIXED_PARAMS(TL_FIELD)
};

struct TL(startup_fixed) {
	struct TL(startup_fixed_params) params;
};

TL_FN void TL(startup_fixed_defaults)(struct TL(startup_fixed_params) *p) {
	TL_STARTUP_FIXED_PARAMS(TL_DEFAULT)
}

/* Presets: "TSL IW, ssthresh" of tambuwal2018, section 2.5. */
#define TL_STARTUP_STUDIED(window, limit) \
	TL_FN void TL(startup_fixed_##window##_##limit)(struct TL(startup_fixed_params) *p) \
	{ \
		p->iw = window; \
		p->ssthresh = limit; \
	}
TL_STARTUP_STUDIED(1, 2) TL_STARTUP_STUDIED(1, 16) TL_STARTUP_STUDIED(1, 1000) TL_STARTUP_STUDIED(3, 2)
	TL_STARTUP_STUDIED(3, 16) TL_STARTUP_STUDIED(3, 1000)
#undef TL_STARTUP_STUDIED

		TL_FN
	void TL(startup_fixed_decide)(const struct TL(startup_fixed) *s, const struct tl_handshake *in,
				      struct tl_startup_window *out)
{
	if (in->loss == TL_HANDSHAKE_WHOLE)
		return;
	out->iw_segments = s->params.iw;
	out->ssthresh_segments = s->params.ssthresh;
}
