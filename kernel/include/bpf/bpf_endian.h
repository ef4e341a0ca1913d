/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DUMBBELL_IN_KERNEL_BPF_ENDIAN_H
#define DUMBBELL_IN_KERNEL_BPF_ENDIAN_H

#include <linux/kernel.h>

#define bpf_ntohs(value) ntohs(value)
#define bpf_htons(value) htons(value)
#define bpf_htonl(value) htonl(value)

#endif
