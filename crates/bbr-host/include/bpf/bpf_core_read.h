// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Fields are where the compiler knows them to be, and all are there. */
#ifndef DUMBBELL_HOST_BPF_CORE_READ_H
#define DUMBBELL_HOST_BPF_CORE_READ_H

#define bpf_core_field_exists(field) true
#define BPF_CORE_READ_BITFIELD(object, field) ((object)->field)

#endif
