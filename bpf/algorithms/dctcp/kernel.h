/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state that the probe publishes of the kernel's own DCTCP. Its name is another one where ECN was not negotiated. */
#ifndef DUMBBELL_DCTCP_KERNEL_H
#define DUMBBELL_DCTCP_KERNEL_H

#include <dumbbell/ack.h>

#include <bpf/bpf_core_read.h>

#ifndef DB_DECLARED_BY_LINUX /* a kernel of ours is compiled with Linux's own declaration */
/* The layout in icsk_ca_priv. */
struct dctcp___kernel {
	u32 dctcp_alpha; /* of 1024 */
} __attribute__((preserve_access_index));
#endif

static __always_inline void publish_dctcp(struct db_ack *row, const struct sock *sk)
{
	const struct dctcp___kernel *dctcp = inet_csk_ca(sk);
	struct db_dctcp_state *state;

	if (!bpf_core_field_exists(dctcp->dctcp_alpha))
		return;
	state = db_ack_state(row, DB_STATE_DCTCP);
	state->alpha = dctcp->dctcp_alpha;
}

#endif
