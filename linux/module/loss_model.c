// SPDX-License-Identifier: GPL-2.0-only
/* Own weights of loss classifiers. The text that is written to the sysctl is read by the core's reader
 * (tcplearn/loss/own_model.h), which checks the bounds of every number. */
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include <tcplearn/loss/own_model.h>

#include "allocation.h"
#include "choice.h"
#include "loss_model.h"

struct tl_own_model {
	struct rcu_head rcu;
	refcount_t users; /* the namespace, and each connection that began with it */
	struct tl_loss_model model;
};

static DEFINE_MUTEX(writing);

struct tl_own_model *tl_own_model_get(const struct net *net, void *state)
{
	struct tl_own_model *own;

	rcu_read_lock();
	own = rcu_dereference(tl_net_of(net)->loss_model);
	if (own && !refcount_inc_not_zero(&own->users))
		own = NULL;
	rcu_read_unlock();
	if (own)
		tl_loss_model_use(state, &own->model);
	return own;
}

void tl_own_model_put(struct tl_own_model *own)
{
	if (own && refcount_dec_and_test(&own->users))
		kfree_rcu(own, rcu);
}

static void tl_put(struct tl_own_model __rcu **place, struct tl_own_model *own)
{
	mutex_lock(&writing);
	own = rcu_replace_pointer(*place, own, lockdep_is_held(&writing));
	mutex_unlock(&writing);
	tl_own_model_put(own);
}

static int tl_show(struct tl_own_model __rcu **place, void *buffer, size_t *length, loff_t *position)
{
	char name[TL_LOSS_MODEL_NAME_BYTES];
	struct ctl_table line = { .data = name, .maxlen = sizeof(name) };
	const struct tl_own_model *own;

	rcu_read_lock();
	own = rcu_dereference(*place);
	strscpy(name, own ? own->model.name : "none", sizeof(name));
	rcu_read_unlock();
	return proc_dostring(&line, 0, buffer, length, position);
}

static bool tl_is_none(const char *text, size_t length)
{
	return length >= 4 && !memcmp(text, "none", 4) && (length == 4 || (length == 5 && text[4] == '\n'));
}

/* Reads the name of the model, or "none". Takes the text of a model in one write, or "none". */
int tl_do_loss_model(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	struct tl_own_model __rcu **place = table->data;
	struct tl_own_model *own = NULL;
	char error[256];
	int refused;

	if (!write)
		return tl_show(place, buffer, length, position);
	refused = tl_may_write();
	if (refused)
		return refused;
	if (*position || *length > TL_LOSS_MODEL_TEXT_MAX) {
		pr_notice("tcplearn: model: it has to be written at once, in at most %d bytes\n",
			  TL_LOSS_MODEL_TEXT_MAX);
		return -EINVAL;
	}
	if (!tl_is_none(buffer, *length)) {
		own = TL_ALLOC(kzalloc(sizeof(*own), GFP_KERNEL));
		if (!own)
			return -ENOMEM;
		if (tl_loss_model_parse(&own->model, buffer, *length, error, sizeof(error))) {
			pr_notice("tcplearn: %s\n", error);
			kfree(own);
			return -EINVAL;
		}
		refcount_set(&own->users, 1);
	}
	tl_put(place, own);
	*position += *length;
	return 0;
}

void tl_loss_model_net_exit(struct tl_net *tl)
{
	/* nobody writes any more; sockets of the kernel may still read */
	tl_own_model_put(rcu_replace_pointer(tl->loss_model, NULL, true));
}
