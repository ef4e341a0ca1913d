// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The program of a window-based algorithm as functions that Rust can call: htcp_callbacks() and others. */
#include <string.h>

#define PASTE(a, b) a##b
#define EXPAND(a, b) PASTE(a, b)
#define HOST(name) EXPAND(EXPAND(ALGORITHM, _), name)

/* Every source declares its licence; here each has a name of its own. */
#define LICENSE HOST(licence)

#include PROGRAM

#ifndef PARAMETERS
#define PARAMETERS(X)
#endif

const struct callbacks *HOST(callbacks)(void)
{
	return &callbacks;
}

/* enum db_state_of */
__u8 HOST(publishes)(void)
{
	return db_publishes;
}

/* False: there is no such parameter. */
bool HOST(set_parameter)(const char *name, __u32 value)
{
#define SET(type, parameter, default)       \
	if (!strcmp(name, #parameter)) {    \
		parameter = (type)value;    \
		return true;                \
	}
	PARAMETERS(SET)
	return false;
}
