/* Checks of the file as it lies there: nothing of it runs. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "image.h"
#include "raw.h"

/* cpu_ref is the one plugin that may need more than the system's libraries: the digest of the core (abi.md 6). */
static const char oracle_name[] = "cpu_ref", oracle_library[] = "libsodium.so.";

/* ---- Names ----------------------------------------------------------------------------------- */

static bool is_name(const char *name) {
  size_t bytes = strlen(name);
  if (bytes == 0 || bytes > VYRE_BACKEND_MAX_NAME || name[0] < 'a' || name[0] > 'z') return false;
  return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == bytes;
}

void check_file(kit *k) {
  image im;
  if (!is_name(k->settings->name))
    kit_fail(k,
             "wanted a file " VYRE_BACKEND_PREFIX "NAME" VYRE_BACKEND_SUFFIX
             " with a name of at most %u small letters, "
             "digits and _ that begins with a letter, found %s",
             VYRE_BACKEND_MAX_NAME, strrchr(k->settings->plugin, '/') + 1);
  image_read(k, &im);
}

/* ---- Symbols --------------------------------------------------------------------------------- */

static bool is_export(const Elf64_Sym *s) {
  unsigned bind = ELF64_ST_BIND(s->st_info), visibility = ELF64_ST_VISIBILITY(s->st_other);
  return s->st_shndx != SHN_UNDEF && bind != STB_LOCAL && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

void check_exports(kit *k) {
  image im;
  uint32_t others = 0;
  bool has_query = false;
  if (!image_read(k, &im)) return;
  for (uint64_t i = 1; i < im.imports.count; i++) {
    const char *name = image_text(&im, image_import(&im, i)->st_name);
    if (!is_export(image_import(&im, i))) continue;
    if (strcmp(name, VYRE_BACKEND_SYMBOL) == 0)
      has_query = true;
    else if (others++ < 4)
      kit_fail(k,
               "it exports %s besides " VYRE_BACKEND_SYMBOL ". Fix: build with -fvisibility=hidden, and "
               "link archives with -Wl,--exclude-libs,ALL",
               name);
  }
  if (!has_query) kit_fail(k, "it does not export " VYRE_BACKEND_SYMBOL ". Fix: mark it VYRE_BACKEND_EXPORT");
  if (others > 4) kit_fail(k, "it exports %u symbols besides " VYRE_BACKEND_SYMBOL, others);
}

/* What every program of this system has anyway. */
static bool is_system_library(const char *name) {
  static const char *const system[] = {"libc.so.",       "libm.so.",      "libdl.so.",     "libpthread.so.",
                                       "librt.so.",      "libgcc_s.so.",  "libstdc++.so.", "libc++.so.",
                                       "libc++abi.so.",  "ld-linux",      "ld-musl-",      "libc.musl-",
                                       "linux-vdso.so.", "libatomic.so.", "libmvec.so."};
  static const char *const sanitizers[] = {"libasan.so.", "libubsan.so.", "libtsan.so.", "libclang_rt."};
  for (size_t i = 0; i < sizeof system / sizeof *system; i++)
    if (strncmp(name, system[i], strlen(system[i])) == 0) return true;
  for (size_t i = 0; VYRE_ABI_SANITIZER != 0 && i < sizeof sanitizers / sizeof *sanitizers; i++)
    if (strncmp(name, sanitizers[i], strlen(sanitizers[i])) == 0) return true;
  return false;
}

static bool may_need(const kit *k, const char *name) {
  if (is_system_library(name)) return true;
  return strcmp(k->settings->name, oracle_name) == 0 && strncmp(name, oracle_library, strlen(oracle_library)) == 0;
}

void check_needed(kit *k) {
  image im;
  if (!image_read(k, &im)) return;
  for (uint64_t i = 0; i < im.dynamic.count && image_dynamic(&im, i)->d_tag != DT_NULL; i++) {
    const Elf64_Dyn *d = image_dynamic(&im, i);
    const char *name = image_text(&im, d->d_un.d_val);
    if (d->d_tag == DT_NEEDED && !may_need(k, name))
      kit_fail(
          k,
          "it needs %s to be loaded, so it is not even listed where that is missing. Fix: open a vendor's library by "
          "dlopen in probe or open, and link others as archives",
          name);
  }
}

/* Whether one of the libraries that the plugin needs has the symbol. */
static bool is_found(const image *im, void *const *libraries, uint32_t count, const Elf64_Sym *s) {
  const char *name = image_text(im, s->st_name);
  for (uint32_t i = 0; i < count; i++)
    if (dlsym(libraries[i], name) != NULL) return true;
  return dlsym(RTLD_DEFAULT, name) == NULL; /* nobody has it: the dynamic linker says so */
}

enum { MOST_LIBRARIES = 64 };

static uint32_t open_needed(const image *im, void *libraries[MOST_LIBRARIES]) {
  uint32_t count = 0;
  for (uint64_t i = 0; i < im->dynamic.count && count < MOST_LIBRARIES; i++) {
    const Elf64_Dyn *d = image_dynamic(im, i);
    if (d->d_tag == DT_NULL) break;
    if (d->d_tag != DT_NEEDED) continue;
    libraries[count] = dlopen(image_text(im, d->d_un.d_val), RTLD_LAZY | RTLD_LOCAL);
    if (libraries[count] != NULL) count++;
  }
  return count;
}

/* Functions that a plugin must not call while it runs, which its archives may still import. */
static const char *unwelcome(const char *name) {
  static const struct {
    const char *name, *why;
  } rows[] = {
      {"abort", "VBP-27"},      {"exit", "VBP-27"},      {"_exit", "VBP-27"},         {"_Exit", "VBP-27"},
      {"quick_exit", "VBP-27"}, {"printf", "VBP-27"},    {"puts", "VBP-27"},          {"vprintf", "VBP-27"},
      {"perror", "VBP-27"},     {"sigaction", "VBP-27"}, {"signal", "VBP-27"},        {"stdout", "VBP-27"},
      {"stderr", "VBP-27"},     {"getenv", "VBP-30"},    {"secure_getenv", "VBP-30"}, {"setenv", "VBP-30"},
      {"putenv", "VBP-30"},     {"setlocale", "VBP-27"}, {"fork", "VBP-26"},          {"system", "VBP-27"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].why;
  return NULL;
}

void check_imports(kit *k) {
  image im;
  void *libraries[MOST_LIBRARIES];
  if (!image_read(k, &im)) return;
  uint32_t count = open_needed(&im, libraries);
  for (uint64_t i = 1; i < im.imports.count; i++) {
    const Elf64_Sym *s = image_import(&im, i);
    const char *name = image_text(&im, s->st_name), *why = unwelcome(name);
    if (s->st_shndx != SHN_UNDEF) continue;
    if (strncmp(name, "vyre_", 5) == 0)
      kit_fail(k, "it takes %s from its host. Fix: a plugin calls nothing of libvyre but host services", name);
    else if (VYRE_ABI_SANITIZER == 0 && ELF64_ST_BIND(s->st_info) != STB_WEAK && !is_found(&im, libraries, count, s))
      kit_fail(
          k, "it takes %s from its host, or from another library that happens to be there. Fix: link with -Wl,-z,defs",
          name);
    if (why != NULL) kit_note(k, "it imports %s, which it must not call (%s)", name, why);
  }
}

/* ---- What runs by itself --------------------------------------------------------------------- */

/* The compiler's own, as in an empty shared object: tables of transactional memory and of frames, and what
 * __builtin_cpu_supports reads. */
static bool is_of_compiler(const char *function) {
  static const char *const names[] = {"frame_dummy", "__do_global_dtors_aux", "__cpu_indicator_init",
                                      "init_cpu_features"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(function, names[i]) == 0) return true;
  return false;
}

static void check_array(kit *k, const image *im, int64_t tag, int64_t size_tag, const char *what, const char *when) {
  uint64_t address, unnamed = 0, init;
  for (uint64_t i = 0; image_array_entry(im, tag, size_tag, i, &address) && !kit_is_full(k); i++) {
    const char *name = image_function(im, address);
    if (is_of_compiler(name)) continue;
    /* Without names, one is the compiler's where its start files were linked. */
    if (name[0] == '\0' && im->symbols.count == 0 && unnamed++ == 0 && image_find(im, DT_INIT, &init)) continue;
    kit_fail(k, "it has a %s, %s at 0x%llx, that runs when it is %s. Fix: start in open, and end in close", what,
             name[0] != '\0' ? name : "a function", (unsigned long long)address, when);
  }
}

void check_constructors(kit *k) {
  static const char *const handlers[] = {"atexit",
                                         "__cxa_atexit",
                                         "on_exit",
                                         "at_quick_exit",
                                         "__cxa_at_quick_exit",
                                         "__cxa_thread_atexit",
                                         "__cxa_thread_atexit_impl"};
  image im;
  if (VYRE_ABI_SANITIZER != 0) {
    kit_skip(k, "a sanitizer adds constructors of its own");
    return;
  }
  if (!image_read(k, &im)) return;
  check_array(k, &im, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ, "constructor", "loaded");
  check_array(k, &im, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, "constructor", "loaded");
  check_array(k, &im, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, "destructor", "unloaded or the process ends");
  for (uint64_t i = 1; i < im.imports.count; i++)
    for (size_t h = 0; h < sizeof handlers / sizeof *handlers; h++)
      if (strcmp(image_text(&im, image_import(&im, i)->st_name), handlers[h]) == 0)
        kit_fail(k,
                 "it imports %s, and nothing of a plugin runs when a thread or the process ends. Fix: free in close "
                 "(C++: no static objects with destructors)",
                 handlers[h]);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void check_segments(kit *k) {
  image im;
  uint64_t value = 0;
  bool has_stack = false;
  if (!image_read(k, &im)) return;
  if (image_find(&im, DT_TEXTREL, &value) || (image_find(&im, DT_FLAGS, &value) && (value & DF_TEXTREL) != 0))
    kit_fail(k, "its code is changed as it is loaded (text relocations). Fix: compile everything with -fPIC");
  for (uint64_t i = 0; i < im.segments.count; i++) {
    const Elf64_Phdr *p = image_segment(&im, i);
    if (p->p_type == PT_LOAD && (p->p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
      kit_fail(k, "segment %llu can be written and executed. Fix: link without -z,wxneeded and -N",
               (unsigned long long)i);
    if (p->p_type != PT_GNU_STACK) continue;
    has_stack = true;
    if ((p->p_flags & PF_X) != 0)
      kit_fail(k, "it asks for an executable stack. Fix: mark assembler sources (.note.GNU-stack), and use no nested "
                  "functions");
  }
  if (!has_stack)
    kit_fail(k, "it does not say that the stack need not be executable. Fix: link with -Wl,-z,noexecstack");
}
