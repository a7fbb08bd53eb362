// SPDX-License-Identifier: GPL-2.0-only
/* net.tcplearn.*: for each network namespace, read when a connection starts. */
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/version.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "tcplearn_module.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define register_net_sysctl_sz(net, path, table, count) register_net_sysctl(net, path, table)
#endif

struct tl_net {
	struct tl_settings settings;
	struct ctl_table *table;
	struct ctl_table_header *header;
};
static unsigned int net_id;

const struct tl_settings *tl_settings_of(const struct net *net)
{
	return &((struct tl_net *)net_generic(net, net_id))->settings;
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

static int tl_do_estimator(struct ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	int *estimator = table->data;
	char name[TL_NAME_BYTES];
	struct ctl_table line = { .data = name, .maxlen = sizeof(name) };
	int error, found;

	strscpy(name, tl_estimator_name(READ_ONCE(*estimator)), sizeof(name));
	error = proc_dostring(&line, write, buffer, length, position);
	if (error || !write)
		return error;
	found = tl_find_estimator(strim(name));
	if (found < 0)
		return found;
	WRITE_ONCE(*estimator, found);
	return 0;
}

static int tl_do_available(struct ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	size_t bytes = (tl_kernel_estimator_count + 1) * TL_NAME_BYTES;
	struct ctl_table line = { .maxlen = bytes };
	char *names = kzalloc(bytes, GFP_KERNEL);
	u32 i;
	int error;

	if (!names)
		return -ENOMEM;
	for (i = 0; i <= tl_kernel_estimator_count; i++) {
		if (i)
			strlcat(names, " ", bytes);
		strlcat(names, tl_estimator_name(i), bytes);
	}
	line.data = names;
	error = proc_dostring(&line, write, buffer, length, position);
	kfree(names);
	return error;
}

static const struct ctl_table tl_table[] = {
	{ .procname = "estimator", .maxlen = sizeof(int), .mode = 0644, .proc_handler = tl_do_estimator },
	{ .procname = "available_estimators", .mode = 0444, .proc_handler = tl_do_available },
	{ .procname = "set_srtt", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = proc_dou8vec_minmax,
	  .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE },
	{ .procname = "log", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = proc_dou8vec_minmax,
	  .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE },
	{ .procname = "measure", .maxlen = sizeof(u8), .mode = 0644, .proc_handler = proc_dou8vec_minmax,
	  .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE },
	{}
};

static int __net_init tl_net_init(struct net *net)
{
	struct tl_net *tl = net_generic(net, net_id);

	tl->table = kmemdup(tl_table, sizeof(tl_table), GFP_KERNEL);
	if (!tl->table)
		return -ENOMEM;
	tl->table[0].data = &tl->settings.estimator;
	tl->table[2].data = &tl->settings.set_srtt;
	tl->table[3].data = &tl->settings.log;
	tl->table[4].data = &tl->settings.measure;
	tl->header = register_net_sysctl_sz(net, "net/tcplearn", tl->table, ARRAY_SIZE(tl_table) - 1);
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
}

static struct pernet_operations tl_net_operations = {
	.init = tl_net_init,
	.exit = tl_net_exit,
	.id = &net_id,
	.size = sizeof(struct tl_net),
};

int tl_settings_init(void)
{
	return register_pernet_subsys(&tl_net_operations);
}

void tl_settings_exit(void)
{
	unregister_pernet_subsys(&tl_net_operations);
}
