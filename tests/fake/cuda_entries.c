/* The exports of the fake driver. Each is an indirect function: whoever looks it up gets what its resolver answers,
 * which is nothing where the script takes it away or the driver is too old for it. So dlsym itself fails, as with a
 * real old driver. */
#include <string.h>

#include "cuda.h"

static const fake_code codes[] = {
#define X(name, number, text) { #name, number },
  CUDA_RESULTS(X)
#undef X
  { NULL, 0 }
};

static void read_script_once(void) { fake_begin("FAKE_CUDA", codes); }

uint64_t cuda_driver_version(void) { return fake_number("version", 12040); }

static bool is_there(const char *name, int since) {
  read_script_once();
  return !fake_is_absent(name) && (uint64_t)since <= cuda_driver_version();
}

#define X(name, exported, since, needs, parameters, arguments) \
  static CUresult enter_##name parameters {                    \
    read_script_once();                                        \
    CUresult gate_ = cuda_gate(#name, needs);                  \
    return gate_ != CUDA_SUCCESS ? gate_ : do_##name arguments; \
  }
#include "cuda_entries.def"
#undef X

#define X(name, exported, since, needs, parameters, arguments)               \
  __attribute__((used)) static CUresult(*find_##name(void)) parameters {    \
    return is_there(#name, since) ? enter_##name : NULL;                    \
  }                                                                          \
  FAKE_EXPORT CUresult exported parameters __attribute__((ifunc("find_" #name)));
#include "cuda_entries.def"
#undef X

void *cuda_find_entry(const char *wanted, int *since) {
  static const struct {
    const char *name;
    int since;
    void *entry;
  } entries[] = {
#define X(name, exported, since_version, needs, parameters, arguments) { #name, since_version, (void *)enter_##name },
#include "cuda_entries.def"
#undef X
  };
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (strcmp(entries[i].name, wanted) != 0 || !is_there(wanted, entries[i].since)) continue;
    *since = entries[i].since;
    return entries[i].entry;
  }
  return NULL;
}
