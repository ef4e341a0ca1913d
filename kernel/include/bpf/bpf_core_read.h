/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields are where the compiler knows them to be. */
#ifndef DUMBBELL_IN_KERNEL_BPF_CORE_READ_H
#define DUMBBELL_IN_KERNEL_BPF_CORE_READ_H

/* A source that names a missing field does not compile. */
#define bpf_core_field_exists(field) true
#define BPF_CORE_READ_BITFIELD(object, field) ((object)->field)

#endif
