/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifier `online`: has no trained weights and learns during the connection, which hwang2018
 * names as future work. It counts packets and losses by load, that is by the level of the queueing delay and
 * the size of the window. Chance loses the same share of the packets whether the queue is empty or full,
 * congestion does not. So the share of packets lost at lower load tells how many losses at the present load
 * were random. docs/algorithms/loss/online.md. Included twice: for double precision and for fixed point. */

#ifndef TCPLEARN_LOSS_ONLINE_H
#define TCPLEARN_LOSS_ONLINE_H
#define TL_ONLINE_FULL 8u   /* the level of a full queue; 0 ... 7 are levels of the queueing delay */
#define TL_ONLINE_CELLS 18u /* a small and a large window at each level */
#define TL_ONLINE_PACKETS_MAX (1u << 18) /* in one cell */
#endif

#define TL_LOSS_ONLINE_PARAMS(X) \
	X(ratio, threshold, TL_RATIO(1, 2), 0, 1, "least probability that counts as congestion") \
	X(ratio, prior, TL_RATIO(2, 1), 0, 256, "losses by congestion that are assumed before any was seen") \
	X(ratio, low, TL_RATIO(1, 2), 0, 1, "least share of the packets that counts as low load") \
	X(count, memory, 64, 8, 128, "losses in one cell at which all counts are halved")

struct TL(loss_online_params) {
	TL_LOSS_ONLINE_PARAMS(TL_FIELD)
};

/* A cell is a load: the level of the queue and whether the window is large. Its number is twice the level,
 * plus 1 if the window is large. */
struct TL(loss_online) {
	struct TL(loss_path) path;
	struct TL(loss_online_params) params;
	num_t floor; /* least RTT when the counts began */
	num_t top;   /* greatest SRTT */
	ratio_t lost[TL_ONLINE_CELLS];
	uint32_t packets[TL_ONLINE_CELLS];
	uint32_t window;     /* greatest cwnd at recent losses; 0: none yet */
	uint32_t skip;       /* packets to be delivered before packets and losses are counted again */
	uint32_t last;       /* cell of the last loss */
	uint32_t counted;    /* 1: the last loss is in `lost` */
	uint32_t kept;       /* 1: the window was kept at the last loss */
	uint32_t recovering; /* 1: from the beginning of a recovery to its end */
};

TL_FN void TL(loss_online_defaults)(struct TL(loss_online_params) *p) { TL_LOSS_ONLINE_PARAMS(TL_DEFAULT) }

TL_FN void TL(loss_online_forget)(struct TL(loss_online) *s)
{
	uint32_t i;

	for (i = 0; i < TL_ONLINE_CELLS; i++) {
		s->lost[i] = ratio_from_whole(0);
		s->packets[i] = 0;
	}
	s->counted = 0;
}

TL_FN void TL(loss_online_start)(struct TL(loss_online) *s)
{
	TL(loss_online_forget)(s);
	s->floor = s->top = num_from_us(0);
	s->window = s->skip = s->last = s->kept = s->recovering = 0;
}

/* Returns the level of the queue, from the queueing delay SRTT - RTTmin. It is TL_ONLINE_FULL if the delay is
 * at least 15/16 of the greatest one so far, and at least RTTmin / 32. Otherwise it is the number of the
 * limits RTTmin / 32, RTTmin / 16, ... 2 RTTmin that the delay reaches. SRTT is used, not the last RTT,
 * because the sample before a loss is longer than others if the receiver delays ACKs. */
TL_FN uint32_t TL(loss_online_level)(const struct TL(loss_online) *s)
{
	const num_t delay = s->path.srtt - s->path.rtt_min, range = s->top - s->path.rtt_min;
	num_t limit = num_shr(s->path.rtt_min, 5);
	uint32_t level = 0;

	if (delay >= limit && delay >= range - num_shr(range, 4))
		return TL_ONLINE_FULL;
	while (level < TL_ONLINE_FULL - 1 && delay >= limit) {
		limit += limit;
		level++;
	}
	return level;
}

/* Returns the cell of the present load. The window is taken as SRTT / (time per packet), and is small if it
 * is below 3/4 of `window`, the greatest cwnd at recent losses. */
TL_FN uint32_t TL(loss_online_cell)(const struct TL(loss_online) *s)
{
	const num_t last = num_mul_count(s->path.packet_time, TL(loss_count)(s->window));

	return 2 * TL(loss_online_level)(s) +
	       (s->window == 0 || s->path.srtt >= last - num_shr(last, 2) ? 1 : 0);
}

/* Halves all counts if `cell` has reached the largest number of packets or losses, so that old counts lose
 * weight and the classifier follows changes of the path. */
TL_FN void TL(loss_online_fade)(struct TL(loss_online) *s, uint32_t cell)
{
	uint32_t i;

	if (s->lost[cell] < ratio_from_whole(s->params.memory) && s->packets[cell] < TL_ONLINE_PACKETS_MAX)
		return;
	for (i = 0; i < TL_ONLINE_CELLS; i++) {
		s->lost[i] = num_shr(s->lost[i], 1);
		s->packets[i] >>= 1;
	}
}

/* Adds a loss to the cell (load) at which the last loss happened. */
TL_FN void TL(loss_online_lose)(struct TL(loss_online) *s)
{
	s->lost[s->last] += ratio_from_whole(1);
	TL(loss_online_fade)(s, s->last);
}

/* Counts delivered packets, except during a recovery and in the first window after a recovery that halved
 * cwnd. */
TL_FN void TL(loss_online_observe)(struct TL(loss_online) *s, const struct tl_loss_ack *in)
{
	const uint32_t n = in->delivered_segments < TL_ONLINE_PACKETS_MAX ? in->delivered_segments
									  : TL_ONLINE_PACKETS_MAX;
	uint32_t cell;

	if (s->path.rtts == 0)
		return;
	s->top = TL(max)(s->top, s->path.srtt);
	if (s->floor == num_from_us(0) || s->path.rtt_min < s->floor - num_shr(s->floor, 4)) {
		/* the queue was not empty when it seemed to be, so the levels were wrong */
		TL(loss_online_forget)(s);
		s->floor = s->path.rtt_min;
	}
	if (s->recovering)
		return;
	if (s->skip > 0) {
		s->skip -= n < s->skip ? n : s->skip;
		return;
	}
	cell = TL(loss_online_cell)(s);
	s->packets[cell] += n;
	TL(loss_online_fade)(s, cell);
}

/* Updates `window`, the greatest cwnd at recent losses. A loss at a larger cwnd raises it to this cwnd; a
 * loss at a smaller one lowers it by an eighth of the difference. In slow start, half of cwnd is used, which
 * was the window one round trip before. */
TL_FN void TL(loss_online_window)(struct TL(loss_online) *s, const struct tl_loss_moment *at)
{
	const uint32_t cwnd = TL(loss_count)(at->cwnd_segments < at->ssthresh_segments ? at->cwnd_segments / 2
										       : at->cwnd_segments);

	s->window = cwnd >= s->window ? cwnd : s->window - (s->window - cwnd + 7) / 8;
}

TL_FN void TL(loss_online_begun)(struct TL(loss_online) *s, const struct tl_loss_moment *at, uint32_t cause)
{
	s->last = TL(loss_online_cell)(s);
	s->counted = s->path.rtts > 0 && !s->recovering && s->skip == 0 ? 1 : 0;
	if (s->counted)
		TL(loss_online_lose)(s);
	s->kept = cause == TL_LOSS_RANDOM ? 1 : 0;
	s->recovering = 1;
	TL(loss_online_window)(s, at);
}

/* Learns the outcome of the last decision. A timeout in a recovery with a kept window adds a loss to the cell
 * (load) of that recovery. If the recovery was undone, nothing was lost, and its loss is taken back. */
TL_FN void TL(loss_online_learn)(struct TL(loss_online) *s, const struct tl_loss_moment *at, uint32_t change,
				 uint32_t cause)
{
	const ratio_t one = ratio_from_whole(1);

	if (change == TL_LOSS_BEGUN) {
		TL(loss_online_begun)(s, at, cause);
		return;
	}
	if (change == TL_LOSS_UNDONE && s->counted)
		s->lost[s->last] = s->lost[s->last] > one ? s->lost[s->last] - one : ratio_from_whole(0);
	if (change == TL_LOSS_TIMEOUT && s->recovering && s->kept && s->counted)
		TL(loss_online_lose)(s);
	if (change == TL_LOSS_UNDONE || change == TL_LOSS_TIMEOUT)
		s->counted = 0;
	if (change == TL_LOSS_TIMEOUT)
		s->kept = 0;
	if (s->recovering || change == TL_LOSS_TIMEOUT)
		s->skip = change == TL_LOSS_UNDONE || s->kept ? 0 : TL(loss_count)(at->cwnd_segments);
	s->recovering = 0;
}

/* Returns a / b, at most 1; 0 if b is 0. */
TL_FN ratio_t TL(loss_online_share)(ratio_t a, ratio_t b)
{
	return b <= ratio_from_whole(0) ? ratio_from_whole(0)
	       : a < b                  ? TL(loss_quotient)(a, b)
					: ratio_from_whole(1);
}

TL_FN ratio_t TL(loss_online_lost)(const struct TL(loss_online) *s, uint32_t from, uint32_t end)
{
	ratio_t sum = ratio_from_whole(0);

	for (; from < end; from++)
		sum += s->lost[from];
	return sum;
}

TL_FN uint32_t TL(loss_online_packets)(const struct TL(loss_online) *s, uint32_t from, uint32_t end)
{
	uint32_t sum = 0;

	for (; from < end; from++)
		sum += s->packets[from];
	return sum;
}

/* Returns the number of cells of low load: the cells of the lowest loads that together have at least the
 * share `low` of all packets, but never all packets. */
TL_FN uint32_t TL(loss_online_low)(const struct TL(loss_online) *s)
{
	const uint32_t all = TL(loss_online_packets)(s, 0, TL_ONLINE_CELLS);
	const ratio_t least = num_mul_count(s->params.low, all > 0 ? all : 1);
	uint32_t end = 0, packets = 0;

	while (packets + s->packets[end] < all && ratio_from_whole(packets) < least)
		packets += s->packets[end++];
	return end;
}

/* Returns the probability that a loss in `cell` is random. It is a product of two factors. The first is the
 * share of the losses in `cell` that chance explains, if chance loses packets at the same rate as at lower
 * load. If `cell` itself is one of low load, it is this share of the losses at all higher loads. The second
 * is near 1 once there are many losses at lower load. In both, `prior` losses are assumed to be by
 * congestion. */
TL_FN ratio_t TL(loss_online_random)(const struct TL(loss_online) *s, uint32_t cell)
{
	const uint32_t low = TL(loss_online_low)(s), from = cell < low ? low : cell;
	const uint32_t end = cell < low ? TL_ONLINE_CELLS : cell + 1;
	const uint32_t below = TL(loss_online_packets)(s, 0, from),
		       here = TL(loss_online_packets)(s, from, end);
	const ratio_t lost = TL(loss_online_lost)(s, 0, from), prior = s->params.prior;
	ratio_t explained = ratio_from_whole(0);

	if (below > 0 && here > 0)
		explained = num_div_count(num_mul_count(lost, here), below);
	return num_mul(TL(loss_online_share)(explained, TL(loss_online_lost)(s, from, end) + prior),
		       TL(loss_online_share)(lost, lost + prior));
}

TL_FN void TL(loss_online_judge)(const struct TL(loss_online) *s, const ratio_t *f,
				 const struct tl_loss_moment *at, struct TL(loss_decision) *out)
{
	(void)at;
	if (!TL(loss_known)(f) || s->path.rtts == 0) {
		TL(loss_decide_rule)(out, 1);
		return;
	}
	TL(loss_decide)(out, ratio_from_whole(1) - TL(loss_online_random)(s, TL(loss_online_cell)(s)),
			s->params.threshold);
}
