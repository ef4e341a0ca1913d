// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probe: rows of the connections whose algorithm writes none itself, as bpf/probe/probe.bpf.c takes them.
 *
 * Every segment that reaches an established connection is seen before TCP looks at it: at a sender, every ACK. A row shows
 * what the ACKs before it have made of the connection. In the states after ESTABLISHED none is seen, so the rows of a
 * connection end when its application closes it; what it was then is the row of the change of state.
 */
#include <dumbbell/ack.h>

static void emit(struct sock *sk, u8 moment, const struct db_acks_algorithm *algorithm)
{
	struct db_ack *row = db_ack_take(sk, moment);

	if (!row)
		return;
	if (algorithm && algorithm->publish)
		algorithm->publish(row, sk);
	else if (algorithm && algorithm->publishes && !algorithm->writes_rows)
		memcpy(db_ack_state(row, algorithm->publishes), inet_csk_ca(sk), sizeof(row->state));
	db_ack_submit(row);
}

static void on_segment(struct sock *sk)
{
	const struct db_acks_algorithm *algorithm;

	/* Receivers are the most frequent, and the cheapest to tell. */
	if (!tcp_sk(sk)->data_segs_out || !db_is_sender(sk))
		return;
	algorithm = db_acks_find(inet_csk(sk)->icsk_ca_ops);
	if (!algorithm || !algorithm->writes_rows)
		emit(sk, DB_ACK_BEFORE, algorithm);
}

/* It is called in the old state, also for connections that fail: those never sent data, and get no row. */
static void on_state(struct sock *sk, int state)
{
	if (sk->sk_protocol != IPPROTO_TCP || (sk->sk_state != TCP_ESTABLISHED && state != TCP_CLOSE))
		return;
	if (db_is_sender(sk))
		emit(sk, DB_ACK_CLOSE, db_acks_find(inet_csk(sk)->icsk_ca_ops));
}

void db_probe_start(void)
{
	dumbbell_on_segment = on_segment;
	dumbbell_on_state = on_state;
}

void db_probe_end(void)
{
	dumbbell_on_segment = NULL;
	dumbbell_on_state = NULL;
}
