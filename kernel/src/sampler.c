// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the state of TCP sockets on a grid of times, inside the kernel.
 *
 * A process that does so costs a user-mode kernel several stops for each sample. This reads what TCP_INFO and TCP_CC_INFO
 * tell, and how much the sink at the other end has taken in, and keeps the rows until the process asks for them.
 *
 * /proc/dumbbell/sampler: each opening is one sampler. Reading gives whole rows; polling tells when there are many.
 */
#include <linux/file.h>
#include <linux/hrtimer.h>
#include <linux/inet_diag.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <dumbbell/process.h>
#include <dumbbell/sink.h>

#define SOCKETS_MAX 2048
#define ROWS (4 * SOCKETS_MAX)

struct entry {
	struct list_head list;
	struct file *file;
	struct sock *sk;
	struct file *sink_file;
	struct sink *sink;
	u32 key;
};

struct sampler {
	/* Around all below: the thread that samples and the process. */
	struct mutex lock;
	struct list_head entries;
	unsigned int count;
	struct hrtimer timer;
	struct kthread_work work;
	wait_queue_head_t wait;
	s64 next, end, interval;
	struct dumbbell_sample *rows;
	/* Rows from the first on are not read yet. */
	unsigned int first, filled;
};

static void sample(struct sampler *sampler, struct entry *entry, s64 now)
{
	struct dumbbell_sample *row = &sampler->rows[sampler->filled++];
	const struct tcp_congestion_ops *ops;
	union tcp_cc_info cc;
	struct tcp_info info;
	int attr;

	memset(row, 0, sizeof(*row));
	row->time_ns = now;
	if (!entry) {
		row->key = DUMBBELL_NO_SOCKET;
		return;
	}
	row->key = entry->key;
	if (entry->sink)
		row->received = sink_settled(entry->sink)->bytes;
	tcp_get_info(entry->sk, &info);
	row->info_bytes = min_t(size_t, sizeof(info), sizeof(row->info));
	memcpy(row->info, &info, row->info_bytes);
	rcu_read_lock();
	ops = READ_ONCE(inet_csk(entry->sk)->icsk_ca_ops);
	if (ops && ops->get_info)
		row->cc_bytes = min_t(size_t, ops->get_info(entry->sk, ~0U, &attr, &cc), sizeof(row->cc));
	rcu_read_unlock();
	memcpy(row->cc, &cc, row->cc_bytes);
}

static void sampler_work(struct kthread_work *work)
{
	struct sampler *sampler = container_of(work, struct sampler, work);
	s64 now = sink_now_ns();
	struct entry *entry;

	mutex_lock(&sampler->lock);
	/* Whoever does not read misses rows, and counts ticks that were not taken. */
	if (sampler->filled + max(sampler->count, 1u) <= ROWS) {
		if (list_empty(&sampler->entries))
			sample(sampler, NULL, now);
		list_for_each_entry(entry, &sampler->entries, list)
			sample(sampler, entry, now);
	}
	if (sampler->filled > ROWS / 2)
		wake_up_poll(&sampler->wait, EPOLLIN);
	mutex_unlock(&sampler->lock);
}

static enum hrtimer_restart sampler_timer(struct hrtimer *timer)
{
	struct sampler *sampler = container_of(timer, struct sampler, timer);

	kthread_queue_work(sink_worker, &sampler->work);
	sampler->next += sampler->interval;
	if (sampler->next >= sampler->end)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(sampler->next));
	return HRTIMER_RESTART;
}

static void drop(struct sampler *sampler, struct entry *entry)
{
	list_del(&entry->list);
	sampler->count--;
	fput(entry->file);
	if (entry->sink_file)
		fput(entry->sink_file);
	kfree(entry);
}

/* In the order of keys, in place of another with this key. */
static long insert(struct sampler *sampler, struct entry *entry)
{
	struct entry *other, *next;
	struct list_head *behind = &sampler->entries;

	list_for_each_entry_safe(other, next, &sampler->entries, list) {
		if (other->key == entry->key)
			drop(sampler, other);
		else if (other->key < entry->key)
			behind = &other->list;
	}
	if (sampler->count == SOCKETS_MAX)
		return -ENOSPC;
	list_add(&entry->list, behind);
	sampler->count++;
	return 0;
}

static long add(struct sampler *sampler, const struct dumbbell_sampled __user *user)
{
	struct dumbbell_sampled asked;
	struct socket *socket;
	struct entry *entry;
	long err = -EINVAL;

	if (copy_from_user(&asked, user, sizeof(asked)))
		return -EFAULT;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->key = asked.key;
	entry->file = fget(asked.socket);
	socket = entry->file ? sock_from_file(entry->file) : NULL;
	if (asked.sink >= 0) {
		entry->sink_file = fget(asked.sink);
		entry->sink = entry->sink_file ? sink_of(entry->sink_file) : NULL;
	}
	if (socket && socket->sk->sk_protocol == IPPROTO_TCP && (asked.sink < 0 || entry->sink)) {
		entry->sk = socket->sk;
		mutex_lock(&sampler->lock);
		err = insert(sampler, entry);
		mutex_unlock(&sampler->lock);
	}
	if (!err)
		return 0;
	if (entry->file)
		fput(entry->file);
	if (entry->sink_file)
		fput(entry->sink_file);
	kfree(entry);
	return err;
}

static long remove(struct sampler *sampler, u32 key)
{
	struct entry *entry, *next;

	mutex_lock(&sampler->lock);
	list_for_each_entry_safe(entry, next, &sampler->entries, list)
		if (entry->key == key)
			drop(sampler, entry);
	mutex_unlock(&sampler->lock);
	return 0;
}

static long start(struct sampler *sampler, const struct dumbbell_grid __user *user)
{
	struct dumbbell_grid grid;

	if (copy_from_user(&grid, user, sizeof(grid)))
		return -EFAULT;
	if (grid.interval_ns < 1000 || grid.first_ns >= grid.end_ns)
		return -EINVAL;
	hrtimer_cancel(&sampler->timer);
	sampler->next = grid.first_ns;
	sampler->end = grid.end_ns;
	sampler->interval = grid.interval_ns;
	hrtimer_start(&sampler->timer, ns_to_ktime(grid.first_ns), HRTIMER_MODE_ABS);
	return 0;
}

static long sampler_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct sampler *sampler = file->private_data;

	switch (command) {
	case DUMBBELL_SAMPLE:
		return add(sampler, (const void __user *)argument);
	case DUMBBELL_SAMPLE_NO_MORE:
		return remove(sampler, argument);
	case DUMBBELL_SAMPLE_GRID:
		return start(sampler, (const void __user *)argument);
	}
	return -ENOTTY;
}

static ssize_t sampler_read(struct file *file, char __user *to, size_t room, loff_t *at)
{
	struct sampler *sampler = file->private_data;
	unsigned int rows;
	ssize_t bytes;

	/* A sample that is due counts. */
	kthread_flush_work(&sampler->work);
	mutex_lock(&sampler->lock);
	rows = min_t(size_t, sampler->filled - sampler->first, room / sizeof(*sampler->rows));
	bytes = rows * sizeof(*sampler->rows);
	if (copy_to_user(to, sampler->rows + sampler->first, bytes))
		bytes = -EFAULT;
	else
		sampler->first += rows;
	if (sampler->first == sampler->filled)
		sampler->first = sampler->filled = 0;
	mutex_unlock(&sampler->lock);
	return bytes;
}

static __poll_t sampler_poll(struct file *file, struct poll_table_struct *table)
{
	struct sampler *sampler = file->private_data;

	poll_wait(file, &sampler->wait, table);
	return sampler->filled > ROWS / 2 ? EPOLLIN | EPOLLRDNORM : 0;
}

static int sampler_open(struct inode *inode, struct file *file)
{
	struct sampler *sampler = kzalloc(sizeof(*sampler), GFP_KERNEL);

	if (!sampler)
		return -ENOMEM;
	sampler->rows = vmalloc(ROWS * sizeof(*sampler->rows));
	if (!sampler->rows) {
		kfree(sampler);
		return -ENOMEM;
	}
	mutex_init(&sampler->lock);
	INIT_LIST_HEAD(&sampler->entries);
	init_waitqueue_head(&sampler->wait);
	kthread_init_work(&sampler->work, sampler_work);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&sampler->timer, sampler_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(&sampler->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	sampler->timer.function = sampler_timer;
#endif
	file->private_data = sampler;
	return 0;
}

static int sampler_release(struct inode *inode, struct file *file)
{
	struct sampler *sampler = file->private_data;
	struct entry *entry, *next;

	hrtimer_cancel(&sampler->timer);
	kthread_cancel_work_sync(&sampler->work);
	list_for_each_entry_safe(entry, next, &sampler->entries, list)
		drop(sampler, entry);
	vfree(sampler->rows);
	kfree(sampler);
	return 0;
}

static const struct proc_ops sampler_ops = {
	.proc_flags = PROC_ENTRY_PERMANENT,
	.proc_open = sampler_open,
	.proc_release = sampler_release,
	.proc_ioctl = sampler_ioctl,
	.proc_read = sampler_read,
	.proc_poll = sampler_poll,
};

static int __init sampler_init(void)
{
	/* acks.c makes the folder. */
	return proc_create("dumbbell/sampler", 0600, NULL, &sampler_ops) ? 0 : -ENOMEM;
}
late_initcall(sampler_init);
