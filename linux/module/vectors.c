// SPDX-License-Identifier: GPL-2.0-only
/* The core's golden vectors, replayed in the kernel. What is written to
 * /sys/kernel/debug/tcplearn_vectors, line by line:
 *
 *   s                        a new series; r TIME SENT RTT DELAY FLIGHT TTL HOPS: its next row
 *   n REPEAT PERIOD EVERY    the series is replayed so many times, each later by the period;
 *                            there is an answer before the first row and after every so many
 *   c NAME                   a case of this estimator; p KEY VALUE: a parameter, times 2^30
 *   q RTT RTO                the next answer, in 2^-8 us
 *   e                        the case ends: every row must have been used
 *   l ...                    of a classifier of losses (vectors_loss.c)
 *   w ...                    of a resend policy (vectors_resend.c)
 *   C P H R                  a startup policy's: startup_vectors.c
 *
 * Reading gives a line for each estimator that was tried and one for all. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "estimators.h"
#include "startup_vectors.h"
#include "vectors_loss.h"
#include "vectors_resend.h"

#define ROWS_MAX 512
#define STATE_BYTES_MAX 65536
#define LINE_BYTES 160

static DEFINE_MUTEX(lock);
static struct dentry *file;
static struct tl_sample *rows;
static u32 row_count, repeat, every;
static s64 period_us;
static u64 at; /* rows replayed in this case */
static bool first;

static const struct tl_kernel_estimator *subject;
static u8 params[TL_PARAMS_BYTES_MAX] __aligned(8);
static void *state;
static struct score {
	u32 cases, answers, wrong;
} *scores;
static u32 bad_lines;
static char line[LINE_BYTES];
static u32 line_length;
static char wrong[200]; /* the first one */

static struct score *tl_score(void)
{
	return &scores[subject - tl_kernel_estimators];
}

static int tl_begin(void)
{
	if (subject->state_bytes(params) > STATE_BYTES_MAX)
		return -EINVAL;
	subject->init(state, params);
	return 0;
}

/* "case" lines come before the answers: the state is made when the first answer comes */
static int tl_answer(s64 rtt, s64 rto)
{
	struct tl_answer a, updated;
	u32 k;

	if (!subject)
		return -EINVAL;
	if (first) {
		first = false;
		if (tl_begin())
			return -EINVAL;
	} else {
		for (k = 0; k < every; k++, at++) {
			struct tl_sample in = rows[at % row_count];
			s64 shift = at / row_count * period_us;

			if (at >= (u64)row_count * repeat)
				return -EINVAL;
			in.time_us += shift;
			in.sent_us += shift;
			subject->update(state, &in, &updated);
		}
	}
	subject->query(state, &a);
	if (at && (updated.rtt_q8 != a.rtt_q8 || updated.rto_q8 != a.rto_q8))
		return -EINVAL;
	tl_score()->answers++;
	if (a.rtt_q8 != rtt || a.rto_q8 != rto) {
		if (!wrong[0])
			snprintf(wrong, sizeof(wrong), "%s after %llu rows: rtt %lld, rto %lld, should be %lld, %lld",
				 subject->name, at, a.rtt_q8, a.rto_q8, rtt, rto);
		tl_score()->wrong++;
	}
	return 0;
}

static int tl_case(const char *name)
{
	u32 i;

	subject = NULL;
	for (i = 0; i < tl_kernel_estimator_count; i++)
		if (!strcmp(tl_kernel_estimators[i].name, name))
			subject = &tl_kernel_estimators[i];
	if (!subject || !row_count || !every)
		return -EINVAL;
	memset(params, 0, sizeof(params));
	subject->defaults(params);
	tl_score()->cases++;
	first = true;
	at = 0;
	return 0;
}

static int tl_row(const char *text)
{
	struct tl_sample *r = &rows[row_count];

	if (row_count == ROWS_MAX || sscanf(text, "%lld %lld %lld %lld %u %hhu %hhu", &r->time_us, &r->sent_us,
					    &r->rtt_us, &r->ack_delay_us, &r->flight_segments, &r->ttl, &r->hops) != 7)
		return -EINVAL;
	row_count++;
	return 0;
}

static int tl_line(char *text)
{
	char word[64];
	s64 a, b;

	switch (text[0]) {
	case 's':
		row_count = 0;
		return 0;
	case 'r':
		return tl_row(text + 1);
	case 'n':
		return sscanf(text + 1, "%u %lld %u", &repeat, &period_us, &every) == 3 ? 0 : -EINVAL;
	case 'c':
		return tl_case(strim(text + 1));
	case 'p':
		if (!subject || sscanf(text + 1, "%63s %lld", word, &a) != 2)
			return -EINVAL;
		return tl_kernel_set(subject, params, word, a);
	case 'q':
		return sscanf(text + 1, "%lld %lld", &a, &b) == 2 ? tl_answer(a, b) : -EINVAL;
	case 'l':
		return tl_loss_line(strim(text + 1));
	case 'w':
		return tl_resend_line(strim(text + 1));
	case 'e':
		return at == (u64)row_count * repeat ? 0 : -EINVAL;
	}
	return tl_startup_vectors_line(text);
}

static ssize_t tl_write(struct file *unused, const char __user *from, size_t count, loff_t *position)
{
	char *part;
	size_t i;

	count = min_t(size_t, count, PAGE_SIZE);
	part = memdup_user(from, count);
	if (IS_ERR(part))
		return PTR_ERR(part);
	mutex_lock(&lock);
	for (i = 0; i < count; i++) {
		if (part[i] != '\n') {
			line[line_length] = part[i];
			line_length += line_length < LINE_BYTES - 1;
			continue;
		}
		line[line_length] = 0;
		line_length = 0;
		if (tl_line(line)) {
			if (!bad_lines)
				pr_err("tcplearn_vectors: not understood: %s\n", line);
			bad_lines++;
		}
	}
	mutex_unlock(&lock);
	kfree(part);
	return count;
}

static int tl_show(struct seq_file *out, void *unused)
{
	u32 i, cases = 0, answers = 0, failed = 0, silent = 0;

	mutex_lock(&lock);
	tl_startup_vectors_show(out);
	for (i = 0; i < tl_kernel_estimator_count; i++) {
		const struct score *s = &scores[i];

		seq_printf(out, "%s cases %u answers %u wrong %u\n", tl_kernel_estimators[i].name, s->cases, s->answers,
			   s->wrong);
		cases += s->cases;
		answers += s->answers;
		failed += s->wrong;
		silent += !s->answers;
	}
	tl_loss_show(out);
	tl_resend_show(out);
	seq_printf(out, "all cases %u answers %u wrong %u untried %u bad_lines %u\n", cases, answers, failed, silent,
		   bad_lines);
	if (wrong[0])
		seq_printf(out, "first wrong: %s\n", wrong);
	mutex_unlock(&lock);
	return 0;
}

static int tl_open(struct inode *inode, struct file *f)
{
	return single_open(f, tl_show, NULL);
}

static const struct file_operations tl_file = {
	.owner = THIS_MODULE,
	.open = tl_open,
	.read = seq_read,
	.write = tl_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init tl_vectors_init(void)
{
	rows = kcalloc(ROWS_MAX, sizeof(*rows), GFP_KERNEL);
	state = kzalloc(STATE_BYTES_MAX, GFP_KERNEL);
	scores = kcalloc(tl_kernel_estimator_count, sizeof(*scores), GFP_KERNEL);
	if (!rows || !state || !scores || tl_loss_vectors_init() || tl_resend_vectors_init()) {
		kfree(rows);
		kfree(state);
		kfree(scores);
		return -ENOMEM;
	}
	file = debugfs_create_file("tcplearn_vectors", 0600, NULL, NULL, &tl_file);
	return 0;
}

static void __exit tl_vectors_exit(void)
{
	debugfs_remove(file);
	tl_resend_vectors_exit();
	tl_loss_vectors_exit();
	kfree(rows);
	kfree(state);
	kfree(scores);
}

module_init(tl_vectors_init);
module_exit(tl_vectors_exit);
MODULE_DESCRIPTION("Replays tcplearn's golden vectors in the kernel");
MODULE_LICENSE("GPL");
