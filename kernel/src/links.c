// SPDX-License-Identifier: GPL-2.0-only
/*
 * Carries packets between the hosts of a run, by the library of links in this process (links.h).
 *
 * Each host has a pair of veth devices. The process that runs the links attaches the outer ends: from then on what a host
 * sends goes to the library, and what the library sends goes to a host, as through a packet socket but without a process.
 * Frames look to hosts as if that process had sent them: same device, same size of buffers.
 *
 * /proc/dumbbell/links: one process at a time opens it. It attaches interfaces of its own network namespace, port 0
 * first, and gives orders to the library. Closing it detaches them.
 */
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/virtio_net.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <dumbbell/process.h>
#include <dumbbell/links.h>

#define PORTS_MAX 4096
/* A plan with long traces. */
#define ORDER_MAX (256u << 20)
/* A burst of segments with its headers. */
#define FRAME_MAX (66 * 1024)

static struct net_device *ports[PORTS_MAX];
static unsigned int port_count;
/* Held around every call of the library but orders, which come while nothing else runs. */
static DEFINE_SPINLOCK(library_lock);
static struct hrtimer timer;
static s64 armed = DUMBBELL_NEVER;
static unsigned long opened;
static u8 linear[FRAME_MAX];

/* It does as packet_alloc_skb() does: receivers' windows hang on the size of buffers. */
static struct sk_buff *make_skb(struct net_device *dev, size_t len, size_t headers)
{
	size_t head = LL_RESERVED_SPACE(dev), room = head + dev->needed_tailroom;
	struct sk_buff *skb;
	int err;

	headers = max_t(size_t, headers, min_t(size_t, len, dev->hard_header_len));
	if (room + len < PAGE_SIZE)
		headers = len;
	skb = alloc_skb_with_frags(room + headers, len - headers, PAGE_ALLOC_COSTLY_ORDER, &err, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, head - dev->hard_header_len);
	skb_put(skb, headers);
	skb->data_len = len - headers;
	skb->len = len;
	return skb;
}

/* Softirqs are off. An interface without a carrier has one that is built in, which drops all and says nothing. */
static bool has_qdisc(const struct net_device *dev)
{
	const struct Qdisc *qdisc = rcu_dereference_bh(netdev_get_tx_queue(dev, 0)->qdisc);

	return qdisc->enqueue && !(qdisc->flags & TCQ_F_BUILTIN);
}

static int links_send(unsigned int port, const struct dumbbell_part *parts, unsigned long count, int vnet)
{
	struct net_device *dev = port < port_count ? ports[port] : NULL;
	struct virtio_net_hdr header = {};
	size_t len = 0, skip = vnet ? sizeof(header) : 0;
	struct sk_buff *skb;
	unsigned long i;
	int offset = 0, err;

	if (!dev)
		return -ENODEV;
	if (skip)
		memcpy(&header, parts[0].base, skip);
	for (i = 0; i < count; i++)
		len += parts[i].bytes;
	len -= skip;
	skb = make_skb(dev, len, __virtio16_to_cpu(true, header.hdr_len));
	if (!skb)
		return -ENOBUFS;
	for (i = 0; i < count; i++, skip = 0) {
		skb_store_bits(skb, offset, parts[i].base + skip, parts[i].bytes - skip);
		offset += parts[i].bytes - skip;
	}
	skb->dev = dev;
	skb->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, dev->hard_header_len);
	if (vnet && virtio_net_hdr_to_skb(skb, &header, true)) {
		kfree_skb(skb);
		return -EINVAL;
	}
	skb_probe_transport_header(skb);
	/* An interface that was given a queueing discipline is a link of the kernel's own. */
	err = has_qdisc(dev) ? dev_queue_xmit(skb) : dev_direct_xmit(skb, 0);
	if (err == NET_XMIT_CN)
		return -EBUSY;
	return err > 0 ? net_xmit_errno(err) : err;
}

const struct dumbbell_kernel dumbbell_kernel = { .abi = DUMBBELL_LINKS_ABI, .send = links_send };

/* Frames that are due are sent in turns of a few, so that hosts take them in between: their queues are short. */
static void links_due(struct tasklet_struct *tasklet)
{
	s64 now;

	spin_lock(&library_lock);
	armed = DUMBBELL_NEVER;
	if (port_count) {
		dumbbell_library->due(ktime_get_ns());
		now = ktime_get_ns();
		armed = dumbbell_library->next();
		if (armed <= now)
			tasklet_schedule(tasklet);
		else if (armed != DUMBBELL_NEVER)
			hrtimer_start(&timer, ns_to_ktime(armed), HRTIMER_MODE_ABS);
	}
	spin_unlock(&library_lock);
}

static DECLARE_TASKLET(due, links_due);

static enum hrtimer_restart links_timer(struct hrtimer *unused)
{
	tasklet_schedule(&due);
	return HRTIMER_NORESTART;
}

/* The library has something to do at another time than before. */
static void rearm(void)
{
	s64 next = dumbbell_library->next();

	if (next == armed)
		return;
	armed = next;
	if (next == DUMBBELL_NEVER)
		hrtimer_try_to_cancel(&timer);
	else if (next <= (s64)ktime_get_ns())
		tasklet_schedule(&due);
	else
		hrtimer_start(&timer, ns_to_ktime(next), HRTIMER_MODE_ABS);
}

static rx_handler_result_t links_receive(struct sk_buff **pskb)
{
	struct sk_buff *skb = skb_share_check(*pskb, GFP_ATOMIC);
	struct virtio_net_hdr vnet = {};
	struct dumbbell_frame frame = { .vnet = &vnet };

	*pskb = skb;
	if (!skb)
		return RX_HANDLER_CONSUMED;
	frame.port = (unsigned long)rcu_dereference(skb->dev->rx_handler_data);
	skb_push(skb, skb->data - skb_mac_header(skb));
	/* The tag of a VLAN travels beside the frame: on a link it is part of it. */
	if (skb_vlan_tag_present(skb)) {
		skb = __vlan_hwaccel_push_inside(skb);
		if (!skb)
			return RX_HANDLER_CONSUMED;
	}
	frame.checksum_missing = skb->ip_summed == CHECKSUM_PARTIAL;
	/* A frame that this cannot describe is no burst of TCP or UDP: the library counts it. */
	if (virtio_net_hdr_from_skb(skb, &vnet, true, true, 0))
		memset(&vnet, 0, sizeof(vnet));
	frame.length = skb->len;
	frame.present = skb->len;
	frame.bytes = skb->data;
	spin_lock(&library_lock);
	if (skb_is_nonlinear(skb)) {
		frame.present = min_t(size_t, skb->len, FRAME_MAX);
		skb_copy_bits(skb, 0, linear, frame.present);
		frame.bytes = linear;
	}
	dumbbell_library->arrived(&frame, ktime_get_ns());
	rearm();
	spin_unlock(&library_lock);
	consume_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static int attach(struct net *net, int ifindex)
{
	struct net_device *dev;
	int err = -ENODEV;

	rtnl_lock();
	dev = __dev_get_by_index(net, ifindex);
	if (dev && dev->type == ARPHRD_ETHER) {
		err = port_count == PORTS_MAX ? -ENOSPC
			: netdev_rx_handler_register(dev, links_receive, (void *)(unsigned long)port_count);
		if (!err)
			ports[port_count++] = dev;
	}
	rtnl_unlock();
	return err;
}

/* With the RTNL held. */
static void detach(unsigned int port)
{
	if (ports[port])
		netdev_rx_handler_unregister(ports[port]);
	spin_lock_bh(&library_lock);
	ports[port] = NULL;
	spin_unlock_bh(&library_lock);
}

/* A namespace may be gone before the process that attached its interfaces. */
static int links_event(struct notifier_block *unused, unsigned long event, void *info)
{
	unsigned int port;

	if (event == NETDEV_UNREGISTER)
		for (port = 0; port < port_count; port++)
			if (ports[port] == netdev_notifier_info_to_dev(info))
				detach(port);
	return NOTIFY_DONE;
}

static struct notifier_block links_notifier = { .notifier_call = links_event };

/* All that is due, before an order: it sends nothing itself. With the lock held. */
static s64 settle(void)
{
	s64 now = ktime_get_ns();

	while (dumbbell_library->next() <= now)
		dumbbell_library->due(now);
	return now;
}

static long order(struct dumbbell_order __user *user)
{
	struct dumbbell_order order;
	void *text, *answer;
	long done = -ENOMEM;

	if (copy_from_user(&order, user, sizeof(order)))
		return -EFAULT;
	if (order.bytes > ORDER_MAX || order.room > ORDER_MAX)
		return -EINVAL;
	text = kvmalloc(order.bytes + 1, GFP_KERNEL);
	answer = kvmalloc(order.room + 1, GFP_KERNEL);
	if (text && answer) {
		done = -EFAULT;
		if (!copy_from_user(text, u64_to_user_ptr(order.order), order.bytes)) {
			spin_lock_bh(&library_lock);
			done = dumbbell_library->order(text, order.bytes, answer, order.room, settle());
			rearm();
			spin_unlock_bh(&library_lock);
			order.failed = done < 0;
			order.answered = done < 0 ? -done : done;
			done = copy_to_user(u64_to_user_ptr(order.answer), answer, order.answered) ||
			       copy_to_user(user, &order, sizeof(order)) ? -EFAULT : 0;
		}
	}
	kvfree(text);
	kvfree(answer);
	return done;
}

static long links_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	switch (command) {
	case DUMBBELL_ATTACH:
		return attach(current->nsproxy->net_ns, argument);
	case DUMBBELL_ORDER:
		return order((struct dumbbell_order __user *)argument);
	}
	return -ENOTTY;
}

static int links_open(struct inode *inode, struct file *file)
{
	return test_and_set_bit(0, &opened) ? -EBUSY : 0;
}

static int links_release(struct inode *inode, struct file *file)
{
	unsigned int port;

	rtnl_lock();
	for (port = 0; port < port_count; port++)
		detach(port);
	rtnl_unlock();
	hrtimer_cancel(&timer);
	tasklet_kill(&due);
	port_count = 0;
	armed = DUMBBELL_NEVER;
	clear_bit(0, &opened);
	return 0;
}

static const struct proc_ops links_ops = {
	.proc_open = links_open,
	.proc_release = links_release,
	.proc_ioctl = links_ioctl,
};

static int __init links_init(void)
{
	if (!dumbbell_library)
		return 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, links_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer.function = links_timer;
#endif
	register_netdevice_notifier(&links_notifier);
	/* acks.c makes the folder. */
	return proc_create("dumbbell/links", 0600, NULL, &links_ops) ? 0 : -ENOMEM;
}
late_initcall(links_init);
