// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A stand-in that makes a table of callbacks for Rust (src/program.rs), in place of BPF programs. */
#ifndef DUMBBELL_CONGESTION_CONTROL_H
#define DUMBBELL_CONGESTION_CONTROL_H

#include <dumbbell/each.h>
#include <dumbbell/state.h>
#include <dumbbell/tcp.h>

struct callbacks {
	void (*init)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
};

/* Each thread has its own, for the flow whose callback runs. */
#define PARAMETER(type, name, value) static _Thread_local type name = value;

static const __u8 db_publishes;
#define PUBLISHES(of) static const __u8 db_publishes = of;

#define SEC(name)
#define DB_MEMBER(label, member, function) .member = function,
#define CONGESTION_CONTROL(label, ...) static const struct callbacks callbacks = {DB_EACH(DB_MEMBER, label, __VA_ARGS__)}

#endif
