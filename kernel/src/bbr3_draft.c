// SPDX-License-Identifier: GPL-2.0-only
/* BBRv3, as draft-ietf-ccwg-bbr has it: the core of BBRv3 with the draft's parameters. */
#define BBR_VERSION 3
#define BBR_DRAFT
#define BBR_RODATA static const
#include <bbr/callbacks.h>

CONGESTION_CONTROL_CALLED(bbr3_draft, "bbr3-draft", BBR_CALLBACKS);
