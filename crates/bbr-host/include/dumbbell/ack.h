// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A stand-in for a row of the per-ACK table: its state. */
#ifndef DUMBBELL_ACK_H
#define DUMBBELL_ACK_H

#include <dumbbell/state.h>
#include <dumbbell/tcp.h>

struct db_ack {
	__u32 mss;
	__u32 state_of;
	__u32 state[DB_STATE_SLOTS];
};

static inline void *db_ack_state(struct db_ack *row, enum db_state_of of)
{
	row->state_of = of;
	return row->state;
}

#endif
