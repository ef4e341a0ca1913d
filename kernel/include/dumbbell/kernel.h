/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own types, where a BPF program has descriptions of them. */
#ifndef DUMBBELL_KERNEL_H
#define DUMBBELL_KERNEL_H

#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>
#include <net/tcp.h>

#endif
