// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of rows, one for each ACK of the run's senders: /proc/dumbbell/acks.
 *
 * Who opens it makes the ring, and closing it ends it; one process at a time. What is written to it are senders, each a
 * struct db_flow_key. What is read from it are whole rows, each a struct db_ack, and nothing if there are none. Polling
 * tells when there are many: a reader that waits for that wakes seldom, and the ring has room for far more meanwhile.
 * /proc/dumbbell/acks_lost counts rows that found it full.
 *
 * A user-mode kernel has one CPU. Rows are written with bottom halves disabled, so no row is written inside another.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#include <dumbbell/ack.h>
#include <dumbbell/process.h>

/* More than there are. */
#define MOST_ALGORITHMS 64
#define SENDERS_BITS 10
/* Many rows: a process that takes in more at once needs more memory, and each page of it costs a stop. */
#define WAKE_ROWS (DUMBBELL_ACK_ROWS / 16)

DB_FOR_ALL bool db_acks_wanted;
DB_FOR_ALL u64 db_acks_lost_rows;

struct sender {
	struct hlist_node node;
	struct db_flow_key key;
};

static DEFINE_HASHTABLE(senders, SENDERS_BITS);
static struct db_ack *ring;
/* Rows ever written and read. */
static u64 written, taken;
static bool is_open;
static DECLARE_WAIT_QUEUE_HEAD(readers);
static struct db_acks_algorithm algorithms[MOST_ALGORITHMS];
static int algorithms_count;

void db_acks_add(struct db_acks_algorithm algorithm)
{
	if (!WARN_ON(algorithms_count == MOST_ALGORITHMS))
		algorithms[algorithms_count++] = algorithm;
}

const struct db_acks_algorithm *db_acks_find(const struct tcp_congestion_ops *ops)
{
	int i;

	for (i = 0; i < algorithms_count; i++) {
		if (algorithms[i].ops == ops)
			return &algorithms[i];
	}
	return NULL;
}

static u32 hash_of(const struct db_flow_key *key)
{
	return jhash(key, sizeof(*key), 0);
}

bool db_acks_is_sender(const void *key)
{
	const struct db_flow_key *wanted = key;
	struct sender *sender;

	hash_for_each_possible(senders, sender, node, hash_of(wanted)) {
		if (!memcmp(&sender->key, wanted, sizeof(*wanted)))
			return true;
	}
	return false;
}

void *db_acks_reserve(size_t bytes)
{
	local_bh_disable();
	if (ring && bytes == sizeof(*ring) && written - taken < DUMBBELL_ACK_ROWS)
		return ring + written % DUMBBELL_ACK_ROWS;
	local_bh_enable();
	return NULL;
}

void db_acks_submit(void *row)
{
	written++;
	if (written - taken == WAKE_ROWS)
		wake_up_poll(&readers, EPOLLIN);
	local_bh_enable();
}

static int add_sender(const struct db_flow_key *key)
{
	struct sender *sender;

	if (db_acks_is_sender(key))
		return 0;
	sender = kmalloc(sizeof(*sender), GFP_KERNEL);
	if (!sender)
		return -ENOMEM;
	sender->key = *key;
	local_bh_disable();
	hash_add(senders, &sender->node, hash_of(key));
	local_bh_enable();
	return 0;
}

static void forget_senders(void)
{
	struct hlist_node *next;
	struct sender *sender;
	int bucket;

	local_bh_disable();
	hash_for_each_safe(senders, bucket, next, sender, node) {
		hash_del(&sender->node);
		kfree(sender);
	}
	local_bh_enable();
}

static int acks_open(struct inode *inode, struct file *file)
{
	if (is_open)
		return -EBUSY;
	ring = vmalloc(array_size(DUMBBELL_ACK_ROWS, sizeof(*ring)));
	if (!ring)
		return -ENOMEM;
	is_open = true;
	written = 0;
	taken = 0;
	db_acks_lost_rows = 0;
	db_acks_wanted = true;
	db_probe_start();
	return nonseekable_open(inode, file);
}

static int acks_release(struct inode *inode, struct file *file)
{
	struct db_ack *old = ring;

	local_bh_disable();
	db_probe_end();
	db_acks_wanted = false;
	ring = NULL;
	local_bh_enable();
	forget_senders();
	vfree(old);
	is_open = false;
	return 0;
}

static ssize_t acks_write(struct file *file, const char __user *from, size_t bytes, loff_t *offset)
{
	struct db_flow_key key;
	size_t done;

	if (bytes % sizeof(key))
		return -EINVAL;
	for (done = 0; done < bytes; done += sizeof(key)) {
		if (copy_from_user(&key, from + done, sizeof(key)))
			return -EFAULT;
		if (add_sender(&key))
			return -ENOMEM;
	}
	return bytes;
}

static ssize_t acks_read(struct file *file, char __user *to, size_t bytes, loff_t *offset)
{
	u64 rows = bytes / sizeof(*ring);
	size_t done = 0;

	while (rows && taken < written) {
		/* Up to the ring's end in one piece. */
		u64 at = taken % DUMBBELL_ACK_ROWS;
		u64 part = min(min(rows, written - taken), (u64)DUMBBELL_ACK_ROWS - at);

		if (copy_to_user(to + done, ring + at, part * sizeof(*ring)))
			return -EFAULT;
		taken += part;
		rows -= part;
		done += part * sizeof(*ring);
	}
	return done;
}

static __poll_t acks_poll(struct file *file, struct poll_table_struct *table)
{
	poll_wait(file, &readers, table);
	return written - taken >= WAKE_ROWS ? EPOLLIN : 0;
}

static const struct proc_ops acks_ops = {
	.proc_open = acks_open,
	.proc_release = acks_release,
	.proc_read = acks_read,
	.proc_write = acks_write,
	.proc_poll = acks_poll,
};

static int lost_show(struct seq_file *file, void *nothing)
{
	seq_printf(file, "%llu\n", db_acks_lost_rows);
	return 0;
}

static int __init acks_init(void)
{
	struct proc_dir_entry *folder = proc_mkdir("dumbbell", NULL);

	if (!folder || !proc_create("acks", 0600, folder, &acks_ops) ||
	    !proc_create_single("acks_lost", 0444, folder, lost_show))
		return -ENOMEM;
	return 0;
}
late_initcall(acks_init);
