// SPDX-License-Identifier: GPL-2.0-only
/* Settings that name an algorithm and its parameters, for example "mlp:threshold=0.4", or none. */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "allocation.h"
#include "choice.h"
#include "counters.h"
#include "reading.h"

static DEFINE_MUTEX(writing);

static struct tl_choice *tl_choice_of(struct tl_reading *reading, const char *text)
{
	const struct tl_algorithm *a = reading->spec.algorithm;
	const u32 bytes = a->state_bytes(reading->params);
	struct tl_choice *choice = TL_ALLOC(kzalloc(sizeof(*choice) + bytes, GFP_KERNEL));

	if (!choice)
		return ERR_PTR(-ENOMEM);
	choice->algorithm = a;
	choice->bytes = bytes;
	strscpy(choice->text, text, sizeof(choice->text));
	a->init(choice->blank, reading->params);
	return choice;
}

static int tl_too_long(void)
{
	pr_notice("tcplearn: a setting has at most %d characters; leave out parameters with their defaults\n",
		  TL_CHOICE_TEXT_BYTES - 1);
	return -EINVAL;
}

/* Reads the spec in reading->text and returns the choice. Returns NULL for the word that means none. */
static struct tl_choice *tl_choose(const struct tl_choosable *what, struct tl_reading *reading)
{
	const char *text = strim(reading->text);
	int error;

	if (!strcmp(text, what->nothing))
		return NULL;
	error = tl_read(reading, &what->kind, text);
	if (!error && strlen(text) >= TL_CHOICE_TEXT_BYTES)
		error = tl_too_long();
	return error ? ERR_PTR(error) : tl_choice_of(reading, text);
}

/* Returns 0 if the caller may write a setting, otherwise -EPERM. The kernel lets the owner of a network
 * namespace, who may be any user, write its settings. These settings take memory and produce records that
 * the machine keeps, so only the machine's administrator may write them. */
int tl_may_write(void)
{
	return capable(CAP_NET_ADMIN) ? 0 : -EPERM;
}

static int tl_put(void *of, struct tl_choice *choice)
{
	struct tl_choice __rcu **place = of;

	mutex_lock(&writing);
	choice = rcu_replace_pointer(*place, choice, lockdep_is_held(&writing));
	mutex_unlock(&writing);
	if (choice)
		kfree_rcu(choice, rcu);
	return 0;
}

static int tl_show_choice(const struct tl_choosable *what, void *buffer, size_t *length, loff_t *position,
			  struct tl_choice __rcu **place)
{
	char text[TL_CHOICE_TEXT_BYTES];
	struct ctl_table line = { .data = text, .maxlen = sizeof(text) };
	const struct tl_choice *choice;

	rcu_read_lock();
	choice = rcu_dereference(*place);
	strscpy(text, choice ? choice->text : what->nothing, sizeof(text));
	rcu_read_unlock();
	return proc_dostring(&line, 0, buffer, length, position);
}

int tl_do_choice_by(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position,
		    struct tl_choice __rcu **place, int (*put)(void *of, struct tl_choice *choice), void *of)
{
	const struct tl_choosable *what = table->extra2;
	struct ctl_table line = { .maxlen = TL_READING_TEXT_BYTES };
	struct tl_reading *reading;
	struct tl_choice *choice;
	int error;

	if (!write)
		return tl_show_choice(what, buffer, length, position, place);
	error = tl_may_write();
	if (error)
		return error;
	if (*length >= TL_READING_TEXT_BYTES) /* the text would be truncated */
		return tl_too_long();
	reading = TL_ALLOC(kzalloc(sizeof(*reading), GFP_KERNEL));
	if (!reading)
		return -ENOMEM;
	line.data = reading->text;
	error = proc_dostring(&line, 1, buffer, length, position);
	choice = error ? ERR_PTR(error) : tl_choose(what, reading);
	kfree(reading);
	return IS_ERR(choice) ? PTR_ERR(choice) : put(of, choice);
}

int tl_do_choice(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	return tl_do_choice_by(table, write, buffer, length, position, table->data, tl_put, table->data);
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
		start.memory = tl_alloc(sk, cache, 0);
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
	struct tl_choice *last = rcu_replace_pointer(*choice, NULL, true);

	if (last)
		kfree_rcu(last, rcu);
}

#define TL_NAMES_BYTES 2048

int tl_do_available_choices(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	const struct tl_choosable *what = table->extra2;
	char *names = TL_ALLOC(kzalloc(TL_NAMES_BYTES, GFP_KERNEL));
	struct ctl_table line = { .data = names, .maxlen = TL_NAMES_BYTES };
	u32 i;
	int error;

	if (!names)
		return -ENOMEM;
	strlcat(names, what->nothing, TL_NAMES_BYTES);
	for (i = 0; i < what->kind.count; i++) {
		strlcat(names, " ", TL_NAMES_BYTES);
		strlcat(names, what->kind.at(i)->name, TL_NAMES_BYTES);
	}
	error = proc_dostring(&line, write, buffer, length, position);
	kfree(names);
	return error;
}
