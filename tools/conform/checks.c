/* The rows of checks.def as an array. */
#include "checks.h"
#include "run.h"

const check_row check_rows[] = {
#define X(id, group, policy, function, what) {id, GROUP_##group, policy, function, what},
#include "checks.def"
#undef X
};
const uint32_t check_count = sizeof check_rows / sizeof *check_rows;

const char *const check_group_names[GROUP_COUNT] = {"static", "abi", "resource", "numeric", "random"};
