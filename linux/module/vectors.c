// SPDX-License-Identifier: GPL-2.0-only
/* Replays the core's golden vectors in the kernel with the core's reader (tcplearn/vectors.h). The
 * vectors are written to /sys/kernel/debug/tcplearn_vectors, with a line such as "kind estimator" before
 * the lines of each kind.
 *
 * Reading the file returns a line for each tested algorithm and a line for each kind. */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "spec_check.h"
#include "vector_players.h"

#define EVENTS_MAX 8192
#define LINE_BYTES 2048

static DEFINE_MUTEX(lock);
static struct dentry *file;
static struct tl_vector_event *events;
static struct tl_vectors reader;
static const struct tl_vector_kind *kind; /* the kind of the lines that follow */

/* Results by kind, for each algorithm. */
static struct tl_score {
	u32 cases, answers, wrong;
} *scores[TL_VECTOR_KINDS];
static u32 bad_lines;
static char problem[320]; /* the first problem */
static char line[LINE_BYTES];
static u32 line_length;

static int tl_kind_line(const char *name)
{
	for (kind = tl_vector_kinds; kind < tl_vector_kinds + TL_VECTOR_KINDS; kind++) {
		if (!strcmp(kind->name, name)) {
			tl_vectors_init(&reader, &kind->player, TL_FIX, events, EVENTS_MAX);
			return 0;
		}
	}
	kind = NULL;
	return -1;
}

static struct tl_score *tl_score(void)
{
	const struct tl_kind *of = kind->player.kind;
	u32 i;

	for (i = 0; i < of->count && of->at(i) != reader.spec.algorithm; i++)
		;
	return &scores[kind - tl_vector_kinds][i];
}

static int tl_line(const char *text, u32 length)
{
	const struct tl_score before = { reader.cases, reader.answers, reader.wrong };
	struct tl_score *score;
	int error;

	if (!strncmp(text, "kind ", 5))
		return tl_kind_line(text + 5);
	if (!kind)
		return -1;
	error = tl_vectors_line(&reader, text, length);
	if (reader.problem[0] && !problem[0])
		strscpy(problem, reader.problem, sizeof(problem));
	if (error || !reader.spec.algorithm)
		return error;
	score = tl_score();
	score->cases += reader.cases - before.cases;
	score->answers += reader.answers - before.answers;
	score->wrong += reader.wrong - before.wrong;
	return 0;
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
		if (tl_line(line, line_length)) {
			if (!bad_lines)
				pr_err("tcplearn_vectors: not understood: %s\n", line);
			bad_lines++;
		}
		line_length = 0;
	}
	mutex_unlock(&lock);
	kfree(part);
	return count;
}

static void tl_show_kind(struct seq_file *out, u32 k)
{
	const struct tl_kind *of = tl_vector_kinds[k].player.kind;
	struct tl_score all = {};
	u32 i, untried = 0;

	for (i = 0; i < of->count; i++) {
		const struct tl_score *one = &scores[k][i];

		seq_printf(out, "%s %s cases %u answers %u wrong %u\n", tl_vector_kinds[k].name, of->at(i)->name,
			   one->cases, one->answers, one->wrong);
		all.cases += one->cases;
		all.answers += one->answers;
		all.wrong += one->wrong;
		untried += !one->answers;
	}
	seq_printf(out, "%s all cases %u answers %u wrong %u untried %u\n", tl_vector_kinds[k].name, all.cases,
		   all.answers, all.wrong, untried);
}

static int tl_show(struct seq_file *out, void *unused)
{
	u32 k;

	mutex_lock(&lock);
	for (k = 0; k < TL_VECTOR_KINDS; k++)
		tl_show_kind(out, k);
	seq_printf(out, "bad_lines %u\n", bad_lines);
	if (problem[0])
		seq_printf(out, "first problem: %s\n", problem);
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

static void tl_vectors_free(void)
{
	u32 k;

	for (k = 0; k < TL_VECTOR_KINDS; k++)
		kfree(scores[k]);
	kvfree(events);
	tl_vector_players_exit();
}

static int __init tl_vectors_begin(void)
{
	u32 k;
	bool there = !tl_vector_players_init();

	events = kvcalloc(EVENTS_MAX, sizeof(*events), GFP_KERNEL);
	there = there && events;
	for (k = 0; k < TL_VECTOR_KINDS; k++) {
		scores[k] = kcalloc(tl_vector_kinds[k].player.kind->count, sizeof(**scores), GFP_KERNEL);
		there = there && scores[k];
	}
	if (!there) {
		tl_vectors_free();
		return -ENOMEM;
	}
	file = debugfs_create_file("tcplearn_vectors", 0600, NULL, NULL, &tl_file);
	tl_spec_check_init();
	return 0;
}

static void __exit tl_vectors_end(void)
{
	tl_spec_check_exit();
	debugfs_remove(file);
	tl_vectors_free();
}

module_init(tl_vectors_begin);
module_exit(tl_vectors_end);
MODULE_DESCRIPTION("Replays tcplearn's golden vectors in the kernel");
MODULE_LICENSE("GPL");
