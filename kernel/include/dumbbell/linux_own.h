/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe reads the state of Linux's own algorithms by their structures, which are private to their sources:
 *
 *     #include <dumbbell/linux_own.h>
 *     #include <tcp_vegas.c>
 *     #include <dumbbell/linux_own_end.h>
 *
 *     #define vegas___kernel vegas
 *     #define DB_DECLARED_BY_LINUX
 *     #include <algorithms/vegas/kernel.h>
 *
 *     LINUX_OWN(vegas, "vegas");
 *
 * The source is that of the kernel's tree, and only its declarations are used: nothing here registers it once more, and
 * its functions are those of the kernel as before.
 */
#ifndef DUMBBELL_LINUX_OWN_H
#define DUMBBELL_LINUX_OWN_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

/* These would become part of the kernel a second time. */
#undef module_init
#undef module_exit
#undef module_param
#undef module_param_cb
#undef EXPORT_SYMBOL_GPL
#undef MODULE_AUTHOR
#undef MODULE_DESCRIPTION
#undef MODULE_LICENSE
#undef MODULE_PARM_DESC
#undef MODULE_VERSION
#undef MODULE_ALIAS
#define module_init(function)
#define module_exit(function)
#define module_param(...)
#define module_param_cb(...)
#define EXPORT_SYMBOL_GPL(symbol)
#define MODULE_AUTHOR(...)
#define MODULE_DESCRIPTION(...)
#define MODULE_LICENSE(...)
#define MODULE_PARM_DESC(...)
#define MODULE_VERSION(...)
#define MODULE_ALIAS(...)

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"

#endif
