// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* BBRv3, as google/bbr v3 deploys it: written from a specification of what it does. */
#define BBR_VERSION 3
#include "../../bbr/callbacks.h"

CONGESTION_CONTROL(bbr3, BBR_CALLBACKS);
