// SPDX-License-Identifier: GPL-2.0-only
/* BBRv3, as draft-ietf-ccwg-bbr has it: the core of BBRv3 with the draft's parameters. */
#define BBR_VERSION 3
#define BBR_DRAFT
#define BBR_RODATA static const
/* Connections negotiate ECN, and receivers echo each mark, if it answers marks. */
#define DB_FLAGS (params.ecn ? TCP_CONG_NEEDS_ECN : 0)
#include <bbr/callbacks.h>

CONGESTION_CONTROL_CALLED(bbr3_draft, "bbr3-draft", BBR_CALLBACKS);
