// SPDX-License-Identifier: GPL-2.0-only
/* A setting that is one of a kind of algorithms and its parameters: "mlp:threshold=0.4", or "none". */
#include <linux/ctype.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "choice.h"
#include "tcplearn_module.h"

static DEFINE_MUTEX(writing);

/* A decimal number with 30 fractional bits, the last rounded to nearest: as the core's host has it of a double,
 * for up to 9 digits behind the point. */
static int tl_q30(const char *text, s64 *q30)
{
	bool negative = *text == '-';
	u64 whole = 0, part = 0, scale = 1;
	const char *at = text + negative;

	if (!isdigit(*at))
		return -EINVAL;
	for (; isdigit(*at); at++) {
		whole = whole * 10 + (u64)(*at - '0');
		if (whole > U32_MAX)
			return -EINVAL;
	}
	if (*at == '.' && isdigit(at[1])) {
		for (at++; isdigit(*at); at++) {
			if (scale == 1000000000)
				return -EINVAL;
			part = part * 10 + (u64)(*at - '0');
			scale *= 10;
		}
	}
	if (*at)
		return -EINVAL;
	*q30 = (s64)((whole << 30) + ((part << 30) + scale / 2) / scale);
	if (negative)
		*q30 = -*q30;
	return 0;
}

/* "key=value,key=value" */
static int tl_set_all(const struct tl_algorithm *a, void *params, char *text)
{
	char *pair, *value;
	s64 q30;

	while ((pair = strsep(&text, ","))) {
		value = strchr(pair, '=');
		if (!value)
			return -EINVAL;
		*value++ = 0;
		if (tl_q30(value, &q30) || tl_algorithm_set(a, params, pair, q30))
			return -EINVAL;
	}
	return 0;
}

static const struct tl_algorithm *tl_find(const struct tl_kind_of *kind, const char *name)
{
	u32 i;

	for (i = 0; i < kind->count(); i++)
		if (!strcmp(kind->at(i)->name, name))
			return kind->at(i);
	return NULL;
}

/* NULL: "none". */
static struct tl_choice *tl_choose(const struct tl_kind_of *kind, const char *text)
{
	char *words, *rest, *params;
	const struct tl_algorithm *a;
	struct tl_choice *choice = ERR_PTR(-ENOMEM);

	if (!strcmp(text, "none"))
		return NULL;
	words = TL_ALLOC(kstrdup(text, GFP_KERNEL));
	params = TL_ALLOC(kzalloc(TL_PARAMS_BYTES_MAX, GFP_KERNEL));
	if (!words || !params)
		goto out;
	rest = words;
	a = tl_find(kind, strsep(&rest, ":"));
	choice = ERR_PTR(-EINVAL);
	if (!a)
		goto out;
	a->defaults(params);
	if (rest && tl_set_all(a, params, rest))
		goto out;
	choice = TL_ALLOC(kzalloc(sizeof(*choice) + a->state_bytes(params), GFP_KERNEL));
	if (!choice) {
		choice = ERR_PTR(-ENOMEM);
		goto out;
	}
	choice->algorithm = a;
	choice->bytes = a->state_bytes(params);
	strscpy(choice->text, text, sizeof(choice->text));
	a->init(choice->blank, params);
out:
	kfree(params);
	kfree(words);
	return choice;
}

int tl_do_choice(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	const struct tl_kind_of *kind = table->extra2;
	struct tl_choice __rcu **place = table->data;
	char text[TL_CHOICE_TEXT_BYTES] = "none";
	struct ctl_table line = { .data = text, .maxlen = sizeof(text) };
	struct tl_choice *choice;
	int error = write ? tl_may_write() : 0;

	if (error)
		return error;
	if (write && *length >= sizeof(text)) /* it would be cut */
		return -EINVAL;
	rcu_read_lock();
	choice = rcu_dereference(*place);
	if (choice)
		strscpy(text, choice->text, sizeof(text));
	rcu_read_unlock();
	error = proc_dostring(&line, write, buffer, length, position);
	if (error || !write)
		return error;
	choice = tl_choose(kind, strim(text));
	if (IS_ERR(choice))
		return PTR_ERR(choice);
	mutex_lock(&writing);
	choice = rcu_replace_pointer(*place, choice, lockdep_is_held(&writing));
	mutex_unlock(&writing);
	if (choice)
		kfree_rcu(choice, rcu);
	return 0;
}

struct tl_choice_start tl_choice_start(const struct sock *sk, struct tl_choice __rcu **of, struct kmem_cache *cache,
				       size_t state_at)
{
	struct tl_choice_start start = {};
	const struct tl_choice *choice;

	rcu_read_lock();
	choice = rcu_dereference(*of);
	if (choice) {
		start.algorithm = choice->algorithm;
		start.memory = tl_alloc(sk, cache);
		if (start.memory)
			memcpy(start.memory + state_at, choice->blank, choice->bytes);
		else
			tl_count(fallbacks);
	}
	rcu_read_unlock();
	return start;
}

void tl_choice_free(struct tl_choice __rcu **choice)
{
	kfree(rcu_dereference_protected(*choice, 1));
}

int tl_do_available_choices(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	const struct tl_kind_of *kind = table->extra2;
	char names[TL_CHOICE_TEXT_BYTES] = "none";
	struct ctl_table line = { .data = names, .maxlen = sizeof(names) };
	u32 i;

	for (i = 0; i < kind->count(); i++) {
		strlcat(names, " ", sizeof(names));
		strlcat(names, kind->at(i)->name, sizeof(names));
	}
	return proc_dostring(&line, write, buffer, length, position);
}
