// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the library of links into the kernel's process, before the kernel boots: here it is still an ordinary program.
 *
 * What the library allocates never comes from the kernel's memory: it calls the C library's own malloc, which the
 * kernel's wrapper does not reach.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <init.h>
#include <os.h>
#include <dumbbell/links.h>

const struct dumbbell_library *dumbbell_library;

static void __init fail(const char *library, const char *why)
{
	fprintf(stderr, "dumbbell.links: %s: %s\n", library, why);
	exit(1);
}

static int __init links_setup(char *line, int *add)
{
	dumbbell_links_t *links;
	char *directory;
	void *handle;

	*add = 0;
	directory = strchr(line, ',');
	if (!directory)
		fail(line, "a comma and the run's directory must follow");
	*directory++ = '\0';
	handle = dlopen(line, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fail(line, dlerror());
	links = (dumbbell_links_t *)dlsym(handle, "dumbbell_links");
	if (!links)
		fail(line, "no library of links");
	dumbbell_library = links(&dumbbell_kernel, directory);
	if (!dumbbell_library)
		exit(1);
	if (dumbbell_library->abi != DUMBBELL_LINKS_ABI)
		fail(line, "of another version than this kernel: build the kernel again");
	return 0;
}

__uml_setup("dumbbell.links=", links_setup,
"dumbbell.links=LIBRARY,DIRECTORY\n"
"    Carries the packets between the hosts of a dumbbell run inside the kernel's\n"
"    process: LIBRARY holds the links, the run's records go to DIRECTORY.\n\n"
);
