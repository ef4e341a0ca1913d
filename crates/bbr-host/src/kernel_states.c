// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The probe's readings of the kernel's own algorithms, for tests: the structures stand as their headers declare them. */
#include <algorithms/htcp/kernel.h>
#include <algorithms/vegas/kernel.h>
#include <algorithms/westwood/kernel.h>

static void begin(struct db_ack *row)
{
	for (int i = 0; i < DB_STATE_SLOTS; i++)
		row->state[i] = DB_NONE;
}

void host_publish_htcp(struct tcp_sock *tp, struct db_ack *row, __u8 beta, __u32 min_rtt, __u32 max_rtt, __u32 bandwidth)
{
	struct htcp___kernel *htcp = inet_csk_ca(&tp->sk);

	*htcp = (struct htcp___kernel){.beta = beta, .minRTT = min_rtt, .maxRTT = max_rtt, .Bi = bandwidth};
	begin(row);
	publish_htcp(row, &tp->sk);
}

void host_publish_westwood(struct tcp_sock *tp, struct db_ack *row, __u32 bw_est, __u32 rtt_min)
{
	struct westwood___kernel *westwood = inet_csk_ca(&tp->sk);

	*westwood = (struct westwood___kernel){.bw_est = bw_est, .rtt_min = rtt_min};
	begin(row);
	publish_westwood(row, &tp->sk);
}

void host_publish_vegas(struct tcp_sock *tp, struct db_ack *row, __u32 base_rtt, __u32 min_rtt)
{
	struct vegas___kernel *vegas = inet_csk_ca(&tp->sk);

	*vegas = (struct vegas___kernel){.baseRTT = base_rtt, .minRTT = min_rtt};
	begin(row);
	publish_vegas(row, &tp->sk);
}
