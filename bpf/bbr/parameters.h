// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The parameters of BBRv2 and BBRv3, in the program's read-only data: a loader may change them before it loads. Their
 * meanings stand in parameters.toml. */
#ifndef BBR_PARAMETERS_H
#define BBR_PARAMETERS_H

#include <dumbbell/tcp.h>

#if BBR_VERSION == 2
#include <algorithms/bbr2/parameters.h>
#elif BBR_VERSION == 3 && defined(BBR_DRAFT)
#include <algorithms/bbr3-draft/parameters.h>
#elif BBR_VERSION == 3
#include <algorithms/bbr3/parameters.h>
#else
#error "BBR_VERSION is 2 or 3"
#endif

#define BBR_MEMBER(type, name, value) type name;
#define BBR_DEFAULT(type, name, value) .name = value,

struct bbr_parameters {
	PARAMETERS(BBR_MEMBER)
};

#define BBR_DEFAULTS { PARAMETERS(BBR_DEFAULT) }

#ifndef BBR_RODATA
#define BBR_RODATA const volatile
#endif

BBR_RODATA struct bbr_parameters params = BBR_DEFAULTS;

#endif
