/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The startup policy `linux`: the kernel's tcp_init_transfer() begins with 10 segments, and with 1 only
 * after more than one retransmission of a SYN or SYN-ACK by timeout. ssthresh stays unchanged. */

#define TL_STARTUP_LINUX_PARAMS(X) \
	X(count, iw, 10, 1, 65535, "IW, segments (TCP_INIT_CWND)") \
	X(count, resends, 1, 0, 1000, "resends that do not reduce IW")

struct TL(startup_linux_params) {
	TL_STARTUP_LINUX_PARAMS(TL_FIELD)
};

struct TL(startup_linux) {
	struct TL(startup_linux_params) params;
};

TL_FN void TL(startup_linux_defaults)(struct TL(startup_linux_params) *p) {
	TL_STARTUP_LINUX_PARAMS(TL_DEFAULT)
}

TL_FN void TL(startup_linux_decide)(const struct TL(startup_linux) *s, const struct tl_handshake *in,
				    struct tl_startup_window *out)
{
	out->iw_segments = in->resends > s->params.resends ? 1 : s->params.iw;
}
