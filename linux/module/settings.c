// SPDX-License-Identifier: GPL-2.0-only
/* The sysctls net.tcplearn.* of each network namespace. A connection reads them when it starts. */
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "allocation.h"
#include "choice.h"
#include "log.h"
#include "loss_classifiers.h"
#include "loss_model.h"
#include "resend_places.h"
#include "resend_policies.h"
#include "settings.h"
#include "startup.h"
#include "startups.h"

/* Returns whether a connection writes an RTO, logs, measures, or reports to its destination prefix. */
bool tl_settings_any(const struct net *net)
{
	const struct tl_net *tl = tl_net_of(net);

	return rcu_access_pointer(tl->estimator) || READ_ONCE(tl->settings.log) || READ_ONCE(tl->settings.measure) ||
	       rcu_access_pointer(tl->loss) || rcu_access_pointer(tl->resend) || tl_startup_remembers(net);
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
	TL_LOSS_MODEL,
	TL_RESEND,
	TL_RESENDS,
	TL_RESEND_PLACES,
	TL_STARTUP,
	TL_STARTUPS,
	TL_TABLE_ROWS
};
/* the extra row is the empty one that Linux before 6.6 needs */
static const struct ctl_table tl_table[TL_TABLE_ROWS + 1] = {
	[TL_ESTIMATOR] = { .procname = "estimator", .maxlen = TL_CHOICE_TEXT_BYTES, .mode = 0644,
			   .proc_handler = tl_do_choice, .extra2 = (void *)&tl_estimators },
	[TL_AVAILABLE] = { .procname = "available_estimators", .mode = 0444, .proc_handler = tl_do_available_choices,
			   .extra2 = (void *)&tl_estimators },
	[TL_SET_SRTT] = { .procname = "set_srtt", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = tl_do_flag },
	[TL_LOG] = { .procname = "log", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = tl_do_log },
	[TL_MEASURE] = { .procname = "measure", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = tl_do_flag },
	[TL_LOSS] = { .procname = "loss", .maxlen = TL_CHOICE_TEXT_BYTES, .mode = 0644, .proc_handler = tl_do_choice,
		      .extra2 = (void *)&tl_losses },
	[TL_LOSSES] = { .procname = "available_losses", .mode = 0444, .proc_handler = tl_do_available_choices,
			.extra2 = (void *)&tl_losses },
	[TL_LOSS_MODEL] = { .procname = "loss_model", .maxlen = TL_CHOICE_TEXT_BYTES, .mode = 0644,
			    .proc_handler = tl_do_loss_model },
	[TL_RESEND] = { .procname = "resend", .maxlen = TL_CHOICE_TEXT_BYTES, .mode = 0644, .proc_handler = tl_do_choice,
			.extra2 = (void *)&tl_resends },
	[TL_RESENDS] = { .procname = "available_resends", .mode = 0444, .proc_handler = tl_do_available_choices,
			 .extra2 = (void *)&tl_resends },
	[TL_RESEND_PLACES] = { .procname = "resend_places", .maxlen = sizeof(u8), .mode = 0644,
			       .proc_handler = tl_do_resend_places },
	[TL_STARTUP] = { .procname = "startup", .maxlen = TL_CHOICE_TEXT_BYTES, .mode = 0644,
			 .proc_handler = tl_do_startup, .extra2 = (void *)&tl_startups },
	[TL_STARTUPS] = { .procname = "available_startups", .mode = 0444, .proc_handler = tl_do_available_choices,
			  .extra2 = (void *)&tl_startups },
};

static int __net_init tl_net_init(struct net *net)
{
	struct tl_net *tl = tl_net_of(net);

	tl->table = TL_ALLOC(kmemdup(tl_table, sizeof(tl_table), GFP_KERNEL));
	if (!tl->table)
		return -ENOMEM;
	tl->table[TL_ESTIMATOR].data = &tl->estimator;
	tl->table[TL_SET_SRTT].data = &tl->settings.set_srtt;
	tl->table[TL_LOG].data = &tl->settings.log;
	tl->table[TL_LOG].extra1 = net;
	tl->table[TL_MEASURE].data = &tl->settings.measure;
	tl->table[TL_LOSS].data = &tl->loss;
	tl->table[TL_LOSS_MODEL].data = &tl->loss_model;
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
	struct tl_net *tl = tl_net_of(net);

	unregister_net_sysctl_table(tl->header);
	kfree(tl->table);
	tl_choice_free(&tl->estimator);
	tl_choice_free(&tl->loss);
	tl_loss_model_net_exit(tl);
	tl_choice_free(&tl->resend);
	tl_log_switch(net, false);
	tl_startup_net_exit(&tl->startup);
	tl_resend_net_exit(&tl->resends);
}

static struct pernet_operations tl_net_operations = {
	.init = tl_net_init,
	.exit = tl_net_exit,
	.id = &tl_net_id,
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
