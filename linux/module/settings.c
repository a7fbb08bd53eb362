// SPDX-License-Identifier: GPL-2.0-only
/* net.tcplearn.*: for each network namespace, read when a connection starts. */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "choice.h"
#include "loss.h"
#include "resend.h"
#include "startup.h"
#include "tcplearn_module.h"

struct tl_net {
	struct tl_settings settings;
	struct tl_log log;
	struct tl_choice __rcu *loss, *resend;
	struct tl_startup_net startup;
	struct tl_resend_net resends;
	struct ctl_table *table;
	struct ctl_table_header *header;
};
static unsigned int net_id;

const struct tl_settings *tl_settings_of(const struct net *net)
{
	return &((struct tl_net *)net_generic(net, net_id))->settings;
}

struct tl_choice __rcu **tl_loss_choice_of(const struct net *net)
{
	return &((struct tl_net *)net_generic(net, net_id))->loss;
}

struct tl_choice __rcu **tl_resend_choice_of(const struct net *net)
{
	return &((struct tl_net *)net_generic(net, net_id))->resend;
}

/* Whether a connection has anything to do: to write an RTO, to log, to be measured, or to report to its place. */
bool tl_settings_any(const struct net *net)
{
	const struct tl_settings *s = tl_settings_of(net);

	return READ_ONCE(s->estimator) != TL_STOCK || READ_ONCE(s->log) || READ_ONCE(s->measure) ||
	       rcu_access_pointer(*tl_loss_choice_of(net)) || rcu_access_pointer(*tl_resend_choice_of(net)) ||
	       tl_startup_remembers(net);
}

struct tl_log *tl_log_of(const struct net *net)
{
	return &((struct tl_net *)net_generic(net, net_id))->log;
}

struct tl_resend_net *tl_resend_net_of(const struct net *net)
{
	return &((struct tl_net *)net_generic(net, net_id))->resends;
}

struct tl_startup_net *tl_startup_of(const struct net *net)
{
	return &((struct tl_net *)net_generic(net, net_id))->startup;
}

/* The kernel lets the owner of a network namespace write its settings, be it anybody's own. These take
 * memory, and make records that the host keeps: they are the machine's administrator's. */
int tl_may_write(void)
{
	return capable(CAP_NET_ADMIN) ? 0 : -EPERM;
}

const char *tl_estimator_name(int estimator)
{
	return estimator == TL_STOCK ? "stock" : tl_kernel_estimators[estimator - 1].name;
}

static int tl_find_estimator(const char *name)
{
	u32 i;

	for (i = 0; i <= tl_kernel_estimator_count; i++)
		if (!strcmp(name, tl_estimator_name(i)))
			return i;
	return -EINVAL;
}

int tl_do_name(int write, void *buffer, size_t *length, loff_t *position, const char *now, char *wanted)
{
	struct ctl_table line = { .data = wanted, .maxlen = TL_NAME_BYTES };
	int error = write ? tl_may_write() : 0;

	if (error)
		return error;
	strscpy(wanted, now, TL_NAME_BYTES);
	return proc_dostring(&line, write, buffer, length, position);
}

static int tl_do_estimator(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	int *estimator = table->data, found;
	char name[TL_NAME_BYTES];
	int error = tl_do_name(write, buffer, length, position, tl_estimator_name(READ_ONCE(*estimator)), name);

	if (error || !write)
		return error;
	found = tl_find_estimator(strim(name));
	if (found < 0)
		return found;
	WRITE_ONCE(*estimator, found);
	return 0;
}

int tl_do_names(int write, void *buffer, size_t *length, loff_t *position, u32 count, const char *(*name_of)(int))
{
	size_t bytes = count * TL_NAME_BYTES;
	struct ctl_table line = { .maxlen = bytes };
	char *names = TL_ALLOC(kzalloc(bytes, GFP_KERNEL));
	u32 i;
	int error;

	if (!names)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (i)
			strlcat(names, " ", bytes);
		strlcat(names, name_of(i), bytes);
	}
	line.data = names;
	error = proc_dostring(&line, write, buffer, length, position);
	kfree(names);
	return error;
}

static int tl_do_available(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	return tl_do_names(write, buffer, length, position, tl_kernel_estimator_count + 1, tl_estimator_name);
}

static int tl_write_flag(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position, u8 *flag)
{
	struct ctl_table line = {
		.data = flag,
		.maxlen = sizeof(u8),
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	};
	int error = write ? tl_may_write() : 0;

	return error ?: proc_dou8vec_minmax(&line, write, buffer, length, position);
}

static int tl_do_flag(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	return tl_write_flag(table, write, buffer, length, position, table->data);
}

static int tl_do_log(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	u8 *log = table->data, wanted = READ_ONCE(*log);
	int error = tl_write_flag(table, write, buffer, length, position, &wanted);

	if (error || !write)
		return error;
	if (!wanted)
		WRITE_ONCE(*log, 0);
	error = tl_log_switch(table->extra1, wanted);
	if (!error)
		WRITE_ONCE(*log, wanted);
	return error;
}

static int tl_do_resend_places(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	struct tl_resend_net *of = table->data;
	u8 wanted = !!READ_ONCE(of->places);
	int error = tl_write_flag(table, write, buffer, length, position, &wanted);

	return error || !write ? error : tl_resend_places_switch(of, wanted);
}

enum {
	TL_ESTIMATOR,
	TL_AVAILABLE,
	TL_SET_SRTT,
	TL_LOG,
	TL_MEASURE,
	TL_LOSS,
	TL_LOSSES,
	TL_RESEND,
	TL_RESENDS,
	TL_RESEND_PLACES,
	TL_STARTUP,
	TL_STARTUPS,
	TL_TABLE_ROWS
};
static const struct ctl_table tl_table[TL_TABLE_ROWS + 1] = { /* and an empty one, for Linux before 6.6 */
	[TL_ESTIMATOR] = { .procname = "estimator", .maxlen = sizeof(int), .mode = 0644,
			   .proc_handler = tl_do_estimator },
	[TL_AVAILABLE] = { .procname = "available_estimators", .mode = 0444, .proc_handler = tl_do_available },
	[TL_SET_SRTT] = { .procname = "set_srtt", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = tl_do_flag },
	[TL_LOG] = { .procname = "log", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = tl_do_log },
	[TL_MEASURE] = { .procname = "measure", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = tl_do_flag },
	[TL_LOSS] = { .procname = "loss", .maxlen = TL_CHOICE_TEXT_BYTES, .mode = 0644, .proc_handler = tl_do_choice,
		      .extra2 = (void *)&tl_losses },
	[TL_LOSSES] = { .procname = "available_losses", .mode = 0444, .proc_handler = tl_do_available_choices,
			.extra2 = (void *)&tl_losses },
	[TL_RESEND] = { .procname = "resend", .maxlen = TL_CHOICE_TEXT_BYTES, .mode = 0644, .proc_handler = tl_do_choice,
			.extra2 = (void *)&tl_resends },
	[TL_RESENDS] = { .procname = "available_resends", .mode = 0444, .proc_handler = tl_do_available_choices,
			 .extra2 = (void *)&tl_resends },
	[TL_RESEND_PLACES] = { .procname = "resend_places", .maxlen = sizeof(u8), .mode = 0644,
			       .proc_handler = tl_do_resend_places },
	[TL_STARTUP] = { .procname = "startup", .maxlen = sizeof(int), .mode = 0644, .proc_handler = tl_do_startup },
	[TL_STARTUPS] = { .procname = "available_startups", .mode = 0444, .proc_handler = tl_do_available_startups },
};

static int __net_init tl_net_init(struct net *net)
{
	struct tl_net *tl = net_generic(net, net_id);

	tl->table = TL_ALLOC(kmemdup(tl_table, sizeof(tl_table), GFP_KERNEL));
	if (!tl->table)
		return -ENOMEM;
	tl->table[TL_ESTIMATOR].data = &tl->settings.estimator;
	tl->table[TL_SET_SRTT].data = &tl->settings.set_srtt;
	tl->table[TL_LOG].data = &tl->settings.log;
	tl->table[TL_LOG].extra1 = net;
	tl->table[TL_MEASURE].data = &tl->settings.measure;
	tl->table[TL_LOSS].data = &tl->loss;
	tl->table[TL_RESEND].data = &tl->resend;
	tl->table[TL_RESEND_PLACES].data = &tl->resends;
	tl->table[TL_STARTUP].data = &tl->startup;
	tl_startup_net_init(&tl->startup);
	tl_resend_net_init(&tl->resends);
	tl->header = TL_ALLOC(register_net_sysctl_sz(net, "net/tcplearn", tl->table, TL_TABLE_ROWS));
	if (!tl->header) {
		kfree(tl->table);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit tl_net_exit(struct net *net)
{
	struct tl_net *tl = net_generic(net, net_id);

	unregister_net_sysctl_table(tl->header);
	kfree(tl->table);
	tl_choice_free(&tl->loss);
	tl_choice_free(&tl->resend);
	tl_log_switch(net, false);
	tl_startup_net_exit(&tl->startup);
	tl_resend_net_exit(&tl->resends);
}

static struct pernet_operations tl_net_operations = {
	.init = tl_net_init,
	.exit = tl_net_exit,
	.id = &net_id,
	.size = sizeof(struct tl_net),
};

int tl_settings_init(void)
{
	return TL_ALLOC_ERROR(register_pernet_subsys(&tl_net_operations));
}

void tl_settings_exit(void)
{
	unregister_pernet_subsys(&tl_net_operations);
}
