/* SPDX-License-Identifier: GPL-2.0-only */
/* The services of src/acks.c to all units: the ring of rows, and the run's senders. */
#ifndef DUMBBELL_IN_KERNEL_ACKS_H
#define DUMBBELL_IN_KERNEL_ACKS_H

#include <linux/types.h>

#define DB_FOR_ALL __attribute__((visibility("default")))

/* True if somebody reads the ring. */
extern DB_FOR_ALL bool db_acks_wanted;
/* The number of rows that found it full. */
extern DB_FOR_ALL u64 db_acks_lost_rows;

/* True for a sender of the run. The key is a struct db_flow_key. */
DB_FOR_ALL bool db_acks_is_sender(const void *key);

/* Room for a row, or NULL; until it is submitted, nothing else runs that writes rows. */
DB_FOR_ALL void *db_acks_reserve(size_t bytes);
DB_FOR_ALL void db_acks_submit(void *row);

/* The probe's knowledge of an algorithm. */
struct db_ack;
struct sock;
struct tcp_congestion_ops;
struct db_acks_algorithm {
	const struct tcp_congestion_ops *ops;
	bool writes_rows; /* itself: the probe leaves its connections alone */
	u8 publishes;	  /* enum db_state_of: what icsk_ca_priv begins with */
	/* Linux's own: puts its state into a row. */
	void (*publish)(struct db_ack *row, const struct sock *sk);
};

DB_FOR_ALL void db_acks_add(struct db_acks_algorithm algorithm);
/* NULL: nothing is known of its state. */
DB_FOR_ALL const struct db_acks_algorithm *db_acks_find(const struct tcp_congestion_ops *ops);

/* The probe writes the rows of all others, from its start to its end. */
DB_FOR_ALL void db_probe_start(void);
DB_FOR_ALL void db_probe_end(void);

#endif
