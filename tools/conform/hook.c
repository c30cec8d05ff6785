/* A shared object calls what it imports through words of its own, which the dynamic linker fills by its relocations.
 * These words are filled again here. */
#include "hook.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __x86_64__
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOBAL_DATA = R_X86_64_GLOB_DAT };
#elif defined __aarch64__
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOBAL_DATA = R_AARCH64_GLOB_DAT };
#else
enum { JUMP_SLOT = -1, GLOBAL_DATA = -1 };
#endif

static _Atomic uint64_t calls, fail_at, environment_reads;
static _Atomic int64_t live;
static const char *_Atomic failed_name, *_Atomic environment_name;

void hook_fail_at(uint64_t n) {
  atomic_store(&failed_name, NULL);
  atomic_store(&calls, 0);
  atomic_store(&fail_at, n);
}

bool hook_has_failed(void) {
  return atomic_load(&failed_name) != NULL;
}

const char *hook_failed(void) {
  const char *name = atomic_load(&failed_name);
  return name != NULL ? name : "";
}

int64_t hook_live(void) {
  return atomic_load(&live);
}

uint64_t hook_environment_reads(const char **name) {
  *name = atomic_load(&environment_name);
  return atomic_load(&environment_reads);
}

/* ---- In place of the C library --------------------------------------------------------------- */

static bool fails(const char *name) {
  uint64_t call = atomic_fetch_add(&calls, 1) + 1;
  if (call != atomic_load(&fail_at)) return false;
  atomic_store(&failed_name, name);
  errno = ENOMEM;
  return true;
}

static void *count(void *p) {
  if (p != NULL) atomic_fetch_add(&live, 1);
  return p;
}

static void *own_malloc(size_t bytes) {
  return fails("malloc") ? NULL : count(malloc(bytes));
}

static void *own_calloc(size_t number, size_t bytes) {
  return fails("calloc") ? NULL : count(calloc(number, bytes));
}

static void *own_realloc(void *old, size_t bytes) {
  if (fails("realloc")) return NULL;
  void *p = realloc(old, bytes);
  return old == NULL ? count(p) : p;
}

static void own_free(void *p) {
  if (p != NULL) atomic_fetch_sub(&live, 1);
  free(p);
}

static void *own_aligned_alloc(size_t align, size_t bytes) {
  return fails("aligned_alloc") ? NULL : count(aligned_alloc(align, bytes));
}

static int own_posix_memalign(void **out, size_t align, size_t bytes) {
  if (fails("posix_memalign")) return ENOMEM;
  int code = posix_memalign(out, align, bytes);
  if (code == 0) count(*out);
  return code;
}

static char *own_strdup(const char *text) {
  return fails("strdup") ? NULL : count(strdup(text));
}

static char *own_strndup(const char *text, size_t bytes) {
  return fails("strndup") ? NULL : count(strndup(text, bytes));
}

static void *own_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return fails("mmap") ? MAP_FAILED : mmap(at, bytes, protection, flags, fd, offset);
}

static int own_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *ctx) {
  return fails("pthread_create") ? EAGAIN : pthread_create(thread, attributes, start, ctx);
}

static char *own_getenv(const char *name) {
  atomic_fetch_add(&environment_reads, 1);
  atomic_store(&environment_name, name);
  return getenv(name);
}

typedef void (*any_function)(void);

static any_function replacement(const char *name) {
  static const struct {
    const char *name;
    any_function function;
  } rows[] = {
      {"malloc", (any_function)own_malloc},
      {"calloc", (any_function)own_calloc},
      {"realloc", (any_function)own_realloc},
      {"free", (any_function)own_free},
      {"aligned_alloc", (any_function)own_aligned_alloc},
      {"posix_memalign", (any_function)own_posix_memalign},
      {"strdup", (any_function)own_strdup},
      {"strndup", (any_function)own_strndup},
      {"mmap", (any_function)own_mmap},
      {"pthread_create", (any_function)own_pthread_create},
      {"getenv", (any_function)own_getenv},
      {"secure_getenv", (any_function)own_getenv},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].function;
  return NULL;
}

/* ---- Binding --------------------------------------------------------------------------------- */

/* The parts of a loaded object's dynamic section. */
typedef struct loaded {
  uintptr_t base;
  const Elf64_Sym *symbols;
  const char *text;
  const Elf64_Rela *tables[2];
  size_t bytes[2];
} loaded;

static void read_dynamic(const struct link_map *map, loaded *l) {
  *l = (loaded){.base = map->l_addr};
  for (const Elf64_Dyn *d = (const Elf64_Dyn *)map->l_ld; d->d_tag != DT_NULL; d++) {
    const void *at = (const void *)d->d_un.d_ptr; /* the dynamic linker has added the base */
    switch (d->d_tag) {
    case DT_SYMTAB:
      l->symbols = at;
      break;
    case DT_STRTAB:
      l->text = at;
      break;
    case DT_RELA:
      l->tables[0] = at;
      break;
    case DT_RELASZ:
      l->bytes[0] = d->d_un.d_val;
      break;
    case DT_JMPREL:
      l->tables[1] = at;
      break;
    case DT_PLTRELSZ:
      l->bytes[1] = d->d_un.d_val;
      break;
    default:
      break;
    }
  }
}

/* The words may have been made read-only. */
static bool put(uintptr_t place, any_function function) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = place & ~(page - 1);
  if (mprotect((void *)first, page, PROT_READ | PROT_WRITE) != 0) return false;
  memcpy((void *)place, &function, sizeof function);
  return true;
}

uint32_t hook_imports(void *library) {
  struct link_map *map;
  loaded l;
  uint32_t bound = 0;
  if (JUMP_SLOT < 0 || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return 0;
  read_dynamic(map, &l);
  if (l.symbols == NULL || l.text == NULL) return 0;
  for (int t = 0; t < 2; t++)
    for (size_t i = 0; l.tables[t] != NULL && i < l.bytes[t] / sizeof(Elf64_Rela); i++) {
      const Elf64_Rela *r = &l.tables[t][i];
      int type = (int)ELF64_R_TYPE(r->r_info);
      if (type != JUMP_SLOT && type != GLOBAL_DATA) continue;
      any_function function = replacement(l.text + l.symbols[ELF64_R_SYM(r->r_info)].st_name);
      if (function != NULL && put(l.base + r->r_offset, function)) bound++;
    }
  return bound;
}
