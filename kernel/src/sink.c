// SPDX-License-Identifier: GPL-2.0-only
/*
 * An application that takes in and discards what a TCP socket receives, inside the kernel.
 *
 * A process that does so costs a user-mode kernel several stops for each packet. This calls the same tcp_recvmsg() with
 * MSG_TRUNC at the same time: a thread is woken when there is data, reads once, and again while there is more. So the
 * receiver acknowledges and opens its window as it does for a process.
 *
 * /proc/dumbbell/sink: each opening is one sink. Once a socket is attached, reading says how much has come, and polling
 * tells when everything has, or when the connection has failed.
 */
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/version.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <dumbbell/process.h>
#include <dumbbell/sink.h>

/* The most that is taken in at once, as a process does. */
#define TURN (1024 * 1024)

struct sink {
	struct file *file;
	struct socket *socket;
	struct kthread_work work;
	wait_queue_head_t wait;
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	struct dumbbell_sunk sunk;
};

struct kthread_worker *sink_worker;

s64 sink_now_ns(void)
{
	s64 now;

	local_bh_disable();
	now = ktime_get_ns();
	local_bh_enable();
	return now;
}

static int take(struct socket *socket)
{
	struct kvec nowhere = { .iov_base = NULL, .iov_len = TURN };
	struct msghdr message = {};

	/* With MSG_TRUNC nothing is written. */
	iov_iter_kvec(&message.msg_iter, READ, &nowhere, 1, TURN);
	return sock_recvmsg(socket, &message, MSG_TRUNC | MSG_DONTWAIT);
}

static void sink_work(struct kthread_work *work)
{
	struct sink *sink = container_of(work, struct sink, work);
	struct dumbbell_sunk *sunk = &sink->sunk;
	struct sock *sk = sink->socket->sk;
	int taken;

	if (sunk->ended || sunk->error)
		return;
	do {
		taken = take(sink->socket);
		if (taken > 0) {
			sunk->last_ns = sink_now_ns();
			if (!sunk->bytes)
				sunk->first_ns = sunk->last_ns;
			sunk->bytes += taken;
		}
	} while (taken > 0 && (!skb_queue_empty_lockless(&sk->sk_receive_queue) || sk->sk_shutdown & RCV_SHUTDOWN));
	sunk->ended = !taken;
	if (taken < 0 && taken != -EAGAIN)
		sunk->error = -taken;
	if (sunk->ended || sunk->error)
		wake_up_poll(&sink->wait, EPOLLIN);
}

const struct dumbbell_sunk *sink_settled(struct sink *sink)
{
	if (sink->file)
		sink_work(&sink->work);
	return &sink->sunk;
}

static void wake(struct sock *sk)
{
	struct sink *sink;

	read_lock_bh(&sk->sk_callback_lock);
	sink = sk->sk_user_data;
	if (sink)
		kthread_queue_work(sink_worker, &sink->work);
	read_unlock_bh(&sk->sk_callback_lock);
}

static long sink_attach(struct sink *sink, int fd)
{
	struct socket *socket;
	struct file *file;
	struct sock *sk;
	int err;

	if (sink->file)
		return -EBUSY;
	file = fget(fd);
	if (!file)
		return -EBADF;
	socket = sock_from_file(file);
	if (!socket || !sk_is_tcp(socket->sk)) {
		fput(file);
		return -EINVAL;
	}
	sk = socket->sk;
	err = 0;
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data) {
		err = -EBUSY;
	} else {
		sink->file = file;
		sink->socket = socket;
		sink->data_ready = sk->sk_data_ready;
		sink->state_change = sk->sk_state_change;
		sk->sk_data_ready = wake;
		sk->sk_state_change = wake;
		sk->sk_user_data = sink;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	if (err)
		fput(file);
	else
		/* It takes in what has come before. */
		kthread_queue_work(sink_worker, &sink->work);
	return err;
}

static long sink_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	return command == DUMBBELL_SINK ? sink_attach(file->private_data, argument) : -ENOTTY;
}

static ssize_t sink_read(struct file *file, char __user *to, size_t room, loff_t *at)
{
	struct sink *sink = file->private_data;

	if (room < sizeof(sink->sunk))
		return -EINVAL;
	/* Data that is there by now counts. */
	kthread_flush_work(&sink->work);
	return copy_to_user(to, &sink->sunk, sizeof(sink->sunk)) ? -EFAULT : sizeof(sink->sunk);
}

static __poll_t sink_poll(struct file *file, struct poll_table_struct *table)
{
	struct sink *sink = file->private_data;

	poll_wait(file, &sink->wait, table);
	return sink->sunk.ended || sink->sunk.error ? EPOLLIN | EPOLLRDNORM : 0;
}

static int sink_open(struct inode *inode, struct file *file)
{
	struct sink *sink = kzalloc(sizeof(*sink), GFP_KERNEL);

	if (!sink)
		return -ENOMEM;
	kthread_init_work(&sink->work, sink_work);
	init_waitqueue_head(&sink->wait);
	file->private_data = sink;
	return 0;
}

static int sink_release(struct inode *inode, struct file *file)
{
	struct sink *sink = file->private_data;

	if (sink->file) {
		struct sock *sk = sink->socket->sk;

		write_lock_bh(&sk->sk_callback_lock);
		sk->sk_data_ready = sink->data_ready;
		sk->sk_state_change = sink->state_change;
		sk->sk_user_data = NULL;
		write_unlock_bh(&sk->sk_callback_lock);
		kthread_cancel_work_sync(&sink->work);
		fput(sink->file);
	}
	kfree(sink);
	return 0;
}

static const struct proc_ops sink_ops = {
	.proc_flags = PROC_ENTRY_PERMANENT,
	.proc_open = sink_open,
	.proc_release = sink_release,
	.proc_ioctl = sink_ioctl,
	.proc_read = sink_read,
	.proc_poll = sink_poll,
};

struct sink *sink_of(struct file *file)
{
	return file_inode(file)->i_sb->s_magic == PROC_SUPER_MAGIC && pde_data(file_inode(file)) == &sink_ops
		? file->private_data : NULL;
}

static int __init sink_init(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	sink_worker = kthread_run_worker(0, "dumbbell-sink");
#else
	sink_worker = kthread_create_worker(0, "dumbbell-sink");
#endif
	if (IS_ERR(sink_worker))
		return PTR_ERR(sink_worker);
	/* acks.c makes the folder. The data tell sinks from other files. */
	return proc_create_data("dumbbell/sink", 0600, NULL, &sink_ops, (void *)&sink_ops) ? 0 : -ENOMEM;
}
late_initcall(sink_init);
