/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between the kernel and the links.
 *
 * A user-mode kernel is a process. The links of a run are a library in that process: the same code that carries packets
 * in real time, driven by the kernel's own clock. The kernel hands each frame that a host sends to the library, and asks
 * it when it next has something to do. The crate `guest-links` is the other side; this file and its module `abi` agree.
 *
 * All times are CLOCK_MONOTONIC in nanoseconds.
 */
#ifndef DUMBBELL_LINKS_H
#define DUMBBELL_LINKS_H

/* Changes with this file. A library with another one is refused. */
#define DUMBBELL_LINKS_ABI 2

/* Never: nothing is due. */
#define DUMBBELL_NEVER 0x7fffffffffffffffLL

/* A piece of a frame, as in struct iovec. */
struct dumbbell_part {
	const void *base;
	unsigned long bytes;
};

/* The services of the kernel to the library. */
struct dumbbell_kernel {
	unsigned int abi;
	/*
	 * Hand a frame to the host behind the port. With vnet, the first part begins with a struct virtio_net_hdr.
	 * Returns 0, or a negative errno: of an interface with a queueing discipline, -ENOBUFS if it dropped the frame, and
	 * -EBUSY if it dropped this frame, or another to make room for it.
	 */
	int (*send)(unsigned int port, const struct dumbbell_part *parts, unsigned long count, int vnet);
};

/* A frame that a host sends. */
struct dumbbell_frame {
	const void *bytes;
	unsigned long length;	/* on the wire: larger than what is here if there was no room */
	unsigned long present;
	unsigned int port;
	int checksum_missing;
	const void *vnet;	/* struct virtio_net_hdr */
};

/* The services of the library to the kernel. None of these is called while another is under way. */
struct dumbbell_library {
	unsigned int abi;
	/*
	 * An order of the process that runs the links, in JSON, and room for its answer. May take long; the time
	 * stands still. Returns the answer's bytes, negative if it is an error's words.
	 */
	long (*order)(const void *order, unsigned long bytes, void *answer, unsigned long room, long long now);
	/* A frame arrives. Frames that are due are sent. */
	void (*arrived)(const struct dumbbell_frame *frame, long long now);
	/* Send frames that are due, but no more than a few. */
	void (*due)(long long now);
	/* When `due` is to be called next: a time that is over means at once. */
	long long (*next)(void);
};

/*
 * The function that the library exports, by the name "dumbbell_links". It is called once, before the kernel boots. The
 * directory is the host's, where the run's records go. Returns NULL after it has said why on standard error.
 */
typedef const struct dumbbell_library *dumbbell_links_t(const struct dumbbell_kernel *kernel, const char *directory);

/* The library, if the command line names one. */
extern __attribute__((visibility("default"))) const struct dumbbell_library *dumbbell_library;
extern __attribute__((visibility("default"))) const struct dumbbell_kernel dumbbell_kernel;

#endif
