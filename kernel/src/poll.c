// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets time pass for a process that waits by asking again and again.
 *
 * Computing takes no time here, but each question takes some microseconds outside. A process that polls without waiting until
 * a moment has come asks a thousand times in each millisecond. FRRouting's daemons do so before each of their timers: they
 * wait for whole milliseconds, rounded down. So a process that has asked a few times in vain gets the next answer a
 * little later.
 *
 * The names are those in the kernel's table of system calls: the kernel's own functions of these names are weak symbols
 * when this is linked to it (python/dumbbell/kernels/kit.py).
 */
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <linux/time.h>
#include <dumbbell/acks.h>

/* The number of answers in a row that come at once. */
#define PATIENCE 4
#define PAUSE_NS 50000

asmlinkage long __se_sys_poll(long ufds, long nfds, long timeout_msecs);
asmlinkage long __se_sys_ppoll(long ufds, long nfds, long tsp, long sigmask, long sigsetsize);

/* There is one CPU, and a process that never waits has it to itself. */
static const struct task_struct *asks;
static unsigned int in_vain;

static long answer(long ready, bool waits)
{
	ktime_t pause = ns_to_ktime(PAUSE_NS);

	if (waits || ready || asks != current)
		in_vain = 0;
	asks = current;
	if (waits || ready)
		return ready;
	if (in_vain < PATIENCE) {
		in_vain++;
	} else {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout(&pause, HRTIMER_MODE_REL);
	}
	return 0;
}

DB_FOR_ALL asmlinkage long sys_poll(struct pollfd __user *ufds, unsigned int nfds, int timeout)
{
	return answer(__se_sys_poll((long)ufds, nfds, timeout), timeout != 0);
}

DB_FOR_ALL asmlinkage long sys_ppoll(struct pollfd __user *ufds, unsigned int nfds, struct __kernel_timespec __user *tsp,
			  const sigset_t __user *sigmask, size_t sigsetsize)
{
	struct timespec64 timeout;
	/* The kernel writes the time that is left over it. */
	bool waits = !tsp || get_timespec64(&timeout, tsp) || timeout.tv_sec || timeout.tv_nsec;

	return answer(__se_sys_ppoll((long)ufds, nfds, (long)tsp, (long)sigmask, sigsetsize), waits);
}
