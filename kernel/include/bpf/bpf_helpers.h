/* SPDX-License-Identifier: GPL-2.0-only */
/* BPF's vocabulary in a kernel: what the sources in bpf/ call, done by the kernel itself. */
#ifndef DUMBBELL_IN_KERNEL_BPF_HELPERS_H
#define DUMBBELL_IN_KERNEL_BPF_HELPERS_H

#include <dumbbell/kernel.h>

/* A map is only its declaration here: it says what is stored. */
#define __uint(name, value) int (*name)[value]
#define __type(name, value) typeof(value) *name
#define SEC(name)
#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1
#define BPF_RB_NO_WAKEUP 1

/* The state of a connection that is too large for icsk_ca_priv: its last word points to it. */
static __always_inline void **db_storage_slot(const struct sock *sk)
{
	return (void **)inet_csk_ca(sk) + ICSK_CA_PRIV_SIZE / sizeof(void *) - 1;
}

static inline void *db_storage_get(const struct sock *sk, size_t size, u64 flags)
{
	void **slot = db_storage_slot(sk);

	if (!*slot && (flags & BPF_SK_STORAGE_GET_F_CREATE))
		*slot = kzalloc(size, GFP_ATOMIC);
	return *slot;
}

static inline void db_storage_delete(const struct sock *sk)
{
	void **slot = db_storage_slot(sk);

	kfree(*slot);
	*slot = NULL;
}

#define DB_IS_STORAGE(map) (sizeof(*(map)->type) == BPF_MAP_TYPE_SK_STORAGE * sizeof(int))
#define bpf_sk_storage_get(map, sk, initial, flags)                                                                    \
	({                                                                                                             \
		static_assert(DB_IS_STORAGE(map), "only maps of type SK_STORAGE are there in a kernel");               \
		(typeof((map)->value))db_storage_get(sk, sizeof(*(map)->value), flags);                                \
	})
#define bpf_sk_storage_delete(map, sk) db_storage_delete(sk)

#define bpf_ktime_get_ns() ktime_get_ns()
#define bpf_jiffies64() get_jiffies_64()
#define bpf_get_prandom_u32() get_random_u32()

/* An ACK at once, by the stack. Stable branches take over newer signatures, so that no version tells which one there is. */
typedef void (*db_send_ack_t)(struct sock *, u32);
typedef void (*db_send_ack_flags_t)(struct sock *, u32, u16);

static inline void db_send_ack(db_send_ack_t send, struct sock *sk, u32 rcv_nxt)
{
	send(sk, rcv_nxt);
}

static inline void db_send_ack_flags(db_send_ack_flags_t send, struct sock *sk, u32 rcv_nxt)
{
	send(sk, rcv_nxt, 0);
}

#define bpf_tcp_send_ack(tp, rcv_nxt)                                                                                  \
	_Generic(&__tcp_send_ack, db_send_ack_t: db_send_ack, db_send_ack_flags_t: db_send_ack_flags)(                 \
		&__tcp_send_ack, (struct sock *)(tp), rcv_nxt)

#endif
