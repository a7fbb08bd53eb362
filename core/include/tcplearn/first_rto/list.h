/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lists every first-RTO policy (the RTO before a connection's first RTT sample). The parameters of a
 * policy are the numbers of its model. There is one state for each destination, which takes the reports
 * of its handshakes; a prefix (/24 or /48) has another state of the same policy. All arithmetic is
 * integer. tcplearn/wrap.h includes this file in fixed point only. */
#ifndef TCPLEARN_FIRST_RTO_LIST_H
#define TCPLEARN_FIRST_RTO_LIST_H

#define TL_FIRST_RTO_LINES_PARAMS(X) \
	X(choice, place, TL_ON, "on|off", 1, "a place that is known decides by its own RTTs") \
	X(us, place_constant, 0, 0, 60000000, "constant part of its RTO") \
	X(ratio, place_last, TL_RATIO(3, 1), 0, 64, "weight of its last RTT") \
	X(ratio, place_high, 0, 0, 64, "weight of its high RTT") \
	X(choice, prefix, TL_OFF, "on|off", 1, "otherwise the RTTs of its prefix decide") \
	X(us, prefix_constant, 0, 0, 60000000, "constant part of that RTO") \
	X(ratio, prefix_last, 0, 0, 64, "weight of the prefix's last RTT") \
	X(ratio, prefix_high, 0, 0, 64, "weight of the prefix's high RTT") \
	X(choice, hops, TL_OFF, "on|off", 1, "otherwise the hops decide, where they are known") \
	X(us, hops_constant, 0, 0, 60000000, "constant part of that RTO") \
	X(us, hops_each, 0, 0, 1000000, "added for each hop") \
	X(choice, nothing, TL_OFF, "on|off", 1, "another RTO than cap_us where nothing is known") \
	X(us, nothing_constant, 0, 0, 60000000, "that RTO") \
	X(us, floor, 200000, 1, 60000000, "lowest RTO") \
	X(us, cap, 1000000, 1, 60000000, "highest RTO; the floor is at most this too") \
	X(count, max_age_s, 3600, 0, 4294967295, "seconds after which an RTT is forgotten")

struct TL(first_rto_lines_params) {
	TL_FIRST_RTO_LINES_PARAMS(TL_FIELD)
};

struct TL(first_rto_lines) {
	struct tl_first_rto_model model;
	struct tl_first_rto_place place;
};

TL_FN void TL(first_rto_lines_defaults)(struct TL(first_rto_lines_params) *p)
{
	TL_FIRST_RTO_LINES_PARAMS(TL_DEFAULT)
}

/* Convert a weight between a parameter (30 fractional bits) and a model (16 fractional bits). */
#define TL_FIRST_RTO_WEIGHT(r) (((r) + (1 << 13)) / (1 << 14))
#define TL_FIRST_RTO_RATIO(q16) ((q16) * (1 << 14))

/* Sets the parameters to the numbers of a model. */
TL_FN void TL(first_rto_lines_of)(struct TL(first_rto_lines_params) *p, const struct tl_first_rto_model *m)
{
	p->place = m->place.there ? TL_ON : TL_OFF;
	p->place_constant_us = m->place.constant_us;
	p->place_last = TL_FIRST_RTO_RATIO(m->place.last_q16);
	p->place_high = TL_FIRST_RTO_RATIO(m->place.high_q16);
	p->prefix = m->prefix.there ? TL_ON : TL_OFF;
	p->prefix_constant_us = m->prefix.constant_us;
	p->prefix_last = TL_FIRST_RTO_RATIO(m->prefix.last_q16);
	p->prefix_high = TL_FIRST_RTO_RATIO(m->prefix.high_q16);
	p->hops = m->hops.there ? TL_ON : TL_OFF;
	p->hops_constant_us = m->hops.constant_us;
	p->hops_each_us = m->hops.hop_us;
	p->nothing = m->nothing.there ? TL_ON : TL_OFF;
	p->nothing_constant_us = m->nothing.constant_us;
	p->floor_us = m->floor_us;
	p->cap_us = m->cap_us;
	p->max_age_s = (uint32_t)((uint64_t)m->max_age_us / 1000000);
}

/* Makes the model with the numbers of the given parameters. */
TL_FN void TL(first_rto_lines_model)(const struct TL(first_rto_lines_params) *p, struct tl_first_rto_model *m)
{
	tl_first_rto_set(&m->place, p->place_constant_us, TL_FIRST_RTO_WEIGHT(p->place_last),
			 TL_FIRST_RTO_WEIGHT(p->place_high), 0);
	tl_first_rto_set(&m->prefix, p->prefix_constant_us, TL_FIRST_RTO_WEIGHT(p->prefix_last),
			 TL_FIRST_RTO_WEIGHT(p->prefix_high), 0);
	tl_first_rto_set(&m->hops, p->hops_constant_us, 0, 0, p->hops_each_us);
	tl_first_rto_set(&m->nothing, p->nothing_constant_us, 0, 0, 0);
	m->place.there = p->place == TL_ON;
	m->prefix.there = p->prefix == TL_ON;
	m->hops.there = p->hops == TL_ON;
	m->nothing.there = p->nothing == TL_ON;
	m->floor_us = p->floor_us < p->cap_us ? p->floor_us : p->cap_us;
	m->cap_us = p->cap_us;
	m->max_age_us = (int64_t)p->max_age_s * 1000000;
}

TL_FN void TL(first_rto_lines_emulated)(struct TL(first_rto_lines_params) *p)
{
	struct tl_first_rto_model m;

	tl_first_rto_emulated(&m);
	TL(first_rto_lines_of)(p, &m);
}

/* Each line is X(identifier, name, parameter list, TL_FORMULA or TL_LEARNED, summary, about) */
#define TL_FIRST_RTO_POLICIES(X) \
	X(first_rto_lines, "rfc6298", TL_FIRST_RTO_LINES_PARAMS, TL_FORMULA, \
	  "a known place's RTO by RFC 6298 from one RTT; else one second", \
	  "The first RTO of a connection to a known place is three times its last RTT, as in " \
	  "RFC 6298, 2.2 after one sample; of any other place it is one second.")

/* Each line is X(policy, function, name, summary). A preset takes everything else from its policy. */
#define TL_FIRST_RTO_PRESETS(X) \
	X(first_rto_lines, emulated, "emulated", \
	  "ours: quantiles learned from emulated hosts, for unknown places too")

#endif
