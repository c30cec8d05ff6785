/* The functions of checks.def: every file that has one of them includes this. */
#ifndef VYRE_TOOLS_CONFORM_CHECKS_H
#define VYRE_TOOLS_CONFORM_CHECKS_H

#include "kit.h"

#define X(id, group, policy, function, what) void function(kit *k);
#include "checks.def"
#undef X

#endif
