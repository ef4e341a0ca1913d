// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives a program its memory at once.
 *
 * The first touch of each page of a program's memory is a signal for the process that the program is outside, and costs tens of
 * microseconds there. FRRouting's daemons touch thousands of pages as they start, four in five of them on the heap. A heap
 * grows by some 130 KB, which the program touches soon. So does the loader touch a library's data, to relocate it. Here they
 * get all their pages in one go, as mlock(2) would give them. How the names replace the kernel's own functions: see poll.c.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <dumbbell/acks.h>

/* Programs that ask for more at once may use little of it. */
#define MOST (1UL << 20)

asmlinkage long __se_sys_brk(unsigned long brk);
asmlinkage long __se_sys_mmap(long addr, long len, long prot, long flags, long fd, long off);

static void fill(unsigned long from, unsigned long length)
{
	if (length <= MOST)
		mm_populate(from, PAGE_ALIGN(length));
}

DB_FOR_ALL asmlinkage long sys_brk(unsigned long brk)
{
	unsigned long before = PAGE_ALIGN(current->mm->brk);
	unsigned long after = __se_sys_brk(brk);

	if (PAGE_ALIGN(after) > before)
		fill(before, PAGE_ALIGN(after) - before);
	return after;
}

DB_FOR_ALL asmlinkage long sys_mmap(unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags,
				    unsigned long fd, unsigned long off)
{
	long at = __se_sys_mmap(addr, len, prot, flags, fd, off);

	if (!IS_ERR_VALUE(at) && (prot & PROT_WRITE) && (flags & MAP_PRIVATE))
		fill(at, len);
	return at;
}
