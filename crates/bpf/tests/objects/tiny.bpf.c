// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The least that the kernel takes: every window is as it was.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct sock {
} __attribute__((preserve_access_index));

struct tcp_congestion_ops {
    unsigned int (*ssthresh)(struct sock *sk);
    void (*cong_avoid)(struct sock *sk, unsigned int ack, unsigned int acked);
    unsigned int (*undo_cwnd)(struct sock *sk);
    unsigned int flags;
    char name[16];
} __attribute__((preserve_access_index));

SEC("struct_ops")
unsigned int BPF_PROG(tiny_ssthresh, struct sock *sk)
{
    return 10;
}

SEC("struct_ops")
void BPF_PROG(tiny_cong_avoid, struct sock *sk, unsigned int ack, unsigned int acked)
{
}

SEC("struct_ops")
unsigned int BPF_PROG(tiny_undo_cwnd, struct sock *sk)
{
    return 10;
}

#ifndef TINY_SECTION
#define TINY_SECTION ".struct_ops.link"
#endif

SEC(TINY_SECTION)
struct tcp_congestion_ops tiny = {
    .ssthresh = (void *)tiny_ssthresh,
    .cong_avoid = (void *)tiny_cong_avoid,
    .undo_cwnd = (void *)tiny_undo_cwnd,
    .name = "tiny",
};

char LICENSE[] SEC("license") = "Dual MIT/GPL";
