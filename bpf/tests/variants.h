/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Programs for kernels that are older or newer than the one that runs, dressed up so that its verifier looks at them.
 *
 * What Linux before 6.10 calls as cong_control(sk, rs) gets its arguments from the places of the newer form, and the callback
 * of Linux 7.1 for CA_EVENT_TX_START, which has init's signature, takes init's place. Include an algorithm after this.
 */
#include <dumbbell/congestion_control.h>

#undef DB_PROGRAM_cong_control
#define DB_PROGRAM_cong_control(label, function)                                                                       \
	DB_PROGRAM_VOID(label##_op_cong_control_v64,                                                                   \
			(struct sock * sk, __u32 ack, int flag, const struct rate_sample *rs), function(sk, 0, 0, rs))

#undef DB_V610_cong_control
#define DB_V610_cong_control(label, function) DB_MEMBER(cong_control, label##_op_cong_control_v64)
#undef DB_V71_cong_control
#define DB_V71_cong_control DB_V610_cong_control

#undef DB_V610_init
#define DB_V610_init(label, function)
#undef DB_V610_cwnd_event
#define DB_V610_cwnd_event(label, function) DB_MEMBER(init, label##_op_cwnd_event_tx_start)
