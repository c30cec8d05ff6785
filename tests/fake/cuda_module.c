/* Modules of the fake driver: PTX text of which only the outline is read, which is its version, its target and its
 * entries with their parameters. The bodies are left to the script. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

/* What cuLinkComplete gives for a program: this word and the PTX. */
static const char cubin_magic[] = "FAKECUBIN\n";

struct CUmod_st {
  CUfunction functions;
};

enum { MOST_LINK_OPTIONS = 16 };
struct CUlinkState_st {
  char *image;
  unsigned count; /* options of cuLinkCreate, where all that is written about the link goes */
  int names[MOST_LINK_OPTIONS];
  void *values[MOST_LINK_OPTIONS];
};

/* ---- The compiler's options and log ---------------------------------------------------------- */

typedef struct options {
  unsigned count;
  const int *names;
  void **values;
} options;

static void *option(const options *o, int name) {
  for (unsigned i = 0; i < o->count; i++)
    if (o->names[i] == name) return o->values[i];
  return NULL;
}

/* The size of the buffer comes in as a value and goes out as what was written. */
static void write_log(const options *o, const char *text) {
  char *buffer = option(o, JIT_ERROR_LOG_BUFFER);
  for (unsigned i = 0; i < o->count && buffer != NULL; i++) {
    if (o->names[i] != JIT_ERROR_LOG_BUFFER_SIZE_BYTES) continue;
    uint64_t room = (uint32_t)(uintptr_t)o->values[i];
    if (room == 0) return;
    snprintf(buffer, room, "%s", text);
    o->values[i] = (void *)(uintptr_t)strlen(buffer);
  }
}

static CUresult refuse(const options *o, CUresult code, const char *text) {
  write_log(o, fake_text("log", text));
  return code;
}

/* ---- Reading PTX ----------------------------------------------------------------------------- */

static const char spaces[] = " \t\r\n";

static const char *skip_spaces(const char *p) {
  for (;;) {
    p += strspn(p, spaces);
    if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
    else return p;
  }
}

/* A word of a name's or directive's letters; |out| is empty if there is none. */
static const char *read_word(const char *p, char out[CUDA_NAME_BYTES]) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$%.";
  p = skip_spaces(p);
  size_t bytes = strspn(p, letters);
  snprintf(out, CUDA_NAME_BYTES, "%.*s", (int)(bytes < CUDA_NAME_BYTES ? bytes : CUDA_NAME_BYTES - 1), p);
  return p + bytes;
}

static uint32_t type_bytes(const char *type) {
  size_t all = strlen(type);
  if (all > 2 && strcmp(type + all - 2, "64") == 0) return 8;
  if (all > 2 && strcmp(type + all - 2, "32") == 0) return 4;
  if (all > 2 && strcmp(type + all - 2, "16") == 0) return 2;
  return strcmp(type, ".b8") == 0 || strcmp(type, ".u8") == 0 || strcmp(type, ".s8") == 0 ? 1 : 0;
}

/* `.param .align 8 .b8 name[40]`, or `.param .u64 name`. */
static const char *read_param(const char *p, CUfunction f) {
  char word[CUDA_NAME_BYTES];
  uint32_t bytes = 0, align = 0;
  for (;;) {
    const char *next = read_word(p, word);
    if (word[0] == 0) return NULL;
    p = next;
    if (word[0] != '.') break; /* the name */
    if (strcmp(word, ".align") == 0) {
      align = (uint32_t)strtoul(skip_spaces(p), (char **)(uintptr_t)&next, 10);
      p = next;
    } else if (strcmp(word, ".param") != 0 && strcmp(word, ".ptr") != 0 && type_bytes(word) > 0) {
      bytes = type_bytes(word);
    }
  }
  if (align == 0) align = bytes;
  p = skip_spaces(p);
  if (*p == '[') {
    char *end;
    bytes *= (uint32_t)strtoul(p + 1, &end, 10);
    p = skip_spaces(end);
    if (*p++ != ']') return NULL;
  }
  if (bytes == 0 || align == 0 || bytes > CUDA_PARAM_BYTES || f->param_count == CUDA_MOST_PARAMS) return NULL;
  uint32_t offset = (f->param_bytes + align - 1) / align * align;
  f->offsets[f->param_count] = offset;
  f->sizes[f->param_count++] = bytes;
  f->param_bytes = offset + bytes;
  return f->param_bytes <= CUDA_PARAM_BYTES ? skip_spaces(p) : NULL;
}

/* Behind `.entry`: name, parameters, and what bounds its workgroup, up to the body. */
static const char *read_entry(const char *p, CUfunction f) {
  p = skip_spaces(read_word(p, f->name));
  if (f->name[0] == 0) return NULL;
  f->max_threads = cuda_attribute(1);
  if (*p == '(') {
    p = skip_spaces(p + 1);
    while (p != NULL && *p != ')') {
      p = read_param(p, f);
      if (p != NULL && *p == ',') p = skip_spaces(p + 1);
    }
    if (p == NULL) return NULL;
    p++;
  }
  for (char word[CUDA_NAME_BYTES]; (p = read_word(p, word)), word[0] != 0;) {
    char *end = (char *)(uintptr_t)p;
    bool is_bound = strcmp(word, ".reqntid") == 0 || strcmp(word, ".maxntid") == 0;
    if (is_bound) f->max_threads = 1;
    do {
      long number = strtol(skip_spaces(end + (*end == ',')), &end, 10);
      if (is_bound) f->max_threads *= (int)number;
      end = (char *)(uintptr_t)skip_spaces(end);
    } while (*end == ',');
    p = end;
  }
  p = skip_spaces(p);
  return *p == '{' || *p == ';' ? p : NULL;
}

static CUresult check_header(const char *ptx, const options *o) {
  unsigned major, minor, target;
  const char *version = strstr(ptx, ".version"), *sm = strstr(ptx, ".target");
  if (version == NULL || sscanf(version, ".version %u.%u", &major, &minor) != 2)
    return refuse(o, CUDA_ERROR_INVALID_PTX, "ptxas fatal : missing .version directive at start of file");
  if (sm == NULL || sscanf(sm, ".target sm_%u", &target) != 1)
    return refuse(o, CUDA_ERROR_INVALID_PTX, "ptxas fatal : missing .target directive");
  if (major * 10 + minor > fake_number("ptx", 84))
    return refuse(o, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "ptxas fatal : unsupported .version");
  if ((int)target > cuda_attribute(75) * 10 + cuda_attribute(76))
    return refuse(o, CUDA_ERROR_NO_BINARY_FOR_GPU, "ptxas fatal : .target is newer than the device");
  return CUDA_SUCCESS;
}

static void free_functions(CUfunction f) {
  while (f != NULL) {
    CUfunction next = f->next;
    free(f);
    f = next;
  }
}

static CUresult read_ptx(const char *ptx, const options *o, CUmodule out) {
  CUresult code = check_header(ptx, o);
  for (const char *p = ptx; code == CUDA_SUCCESS && (p = strstr(p, ".entry")) != NULL;) {
    CUfunction f = calloc(1, sizeof *f);
    if (f == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    f->next = out->functions;
    out->functions = f;
    p = read_entry(p + 6, f);
    if (p == NULL) code = refuse(o, CUDA_ERROR_INVALID_PTX, "ptxas error : syntax error in an .entry");
  }
  return code;
}

/* ---- Modules and libraries ------------------------------------------------------------------- */

static CUresult load(CUmodule *out, const char *image, const options *o) {
  *out = NULL;
  CUresult ordered = cuda_take_compiler_failure();
  if (ordered != CUDA_SUCCESS) return refuse(o, ordered, "ptxas error : ordered by the script");
  if (image == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (strncmp(image, cubin_magic, sizeof cubin_magic - 1) == 0) image += sizeof cubin_magic - 1;
  if ((unsigned char)image[0] == 0x7F || strstr(image, ".") == NULL) return CUDA_ERROR_INVALID_IMAGE;
  CUmodule module = calloc(1, sizeof *module);
  if (module == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult code = read_ptx(image, o, module);
  if (code == CUDA_SUCCESS) {
    fake_born("module");
    *out = module;
    return code;
  }
  free_functions(module->functions);
  free(module);
  return code;
}

CUresult do_cuModuleLoadData(CUmodule *out, const void *image) { return load(out, image, &(options){ 0 }); }

CUresult do_cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, int *names, void **values) {
  return load(out, image, &(options){ count, names, values });
}

CUresult do_cuModuleUnload(CUmodule module) {
  if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
  free_functions(module->functions);
  free(module);
  fake_died("module");
  return CUDA_SUCCESS;
}

CUresult do_cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
  *out = NULL;
  for (CUfunction f = module->functions; f != NULL; f = f->next)
    if (strcmp(f->name, name) == 0) *out = f;
  return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* A library is a module, and its kernels are the functions. */
CUresult do_cuLibraryLoadData(CUlibrary *out, const void *image, int *names, void **values, unsigned count, int *more,
                              void **more_values, unsigned more_count) {
  (void)more, (void)more_values, (void)more_count;
  CUmodule module;
  CUresult code = load(&module, image, &(options){ count, names, values });
  *out = (CUlibrary)(void *)module;
  return code;
}

CUresult do_cuLibraryUnload(CUlibrary library) { return do_cuModuleUnload((CUmodule)(void *)library); }

CUresult do_cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name) {
  CUfunction function;
  CUresult code = do_cuModuleGetFunction(&function, (CUmodule)(void *)library, name);
  *out = (CUkernel)(void *)function;
  return code;
}

CUresult do_cuKernelGetFunction(CUfunction *out, CUkernel kernel) {
  *out = (CUfunction)(void *)kernel;
  return kernel != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- The linker, with which machine code is made to be kept ---------------------------------- */

CUresult do_cuLinkCreate(unsigned count, int *names, void **values, CUlinkState *out) {
  *out = NULL;
  if (count > MOST_LINK_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->count = count;
  for (unsigned i = 0; i < count; i++) {
    (*out)->names[i] = names[i];
    (*out)->values[i] = values[i];
  }
  fake_born("link");
  return CUDA_SUCCESS;
}

CUresult do_cuLinkAddData(CUlinkState state, int type, void *data, size_t bytes, const char *name, unsigned count,
                          int *names, void **values) {
  (void)name;
  options o = { count, names, values };
  if (count == 0) o = (options){ state->count, state->names, state->values };
  CUresult ordered = cuda_take_compiler_failure();
  if (ordered != CUDA_SUCCESS) return refuse(&o, ordered, "ptxas error : ordered by the script");
  if (type != 1 || state->image != NULL) return CUDA_ERROR_INVALID_VALUE;
  size_t length = strnlen(data, bytes);
  state->image = calloc(1, sizeof cubin_magic + length);
  if (state->image == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(state->image, cubin_magic, sizeof cubin_magic - 1);
  memcpy(state->image + sizeof cubin_magic - 1, data, length);
  CUmodule module;
  CUresult code = load(&module, state->image, &o);
  return code == CUDA_SUCCESS ? do_cuModuleUnload(module) : code;
}

CUresult do_cuLinkComplete(CUlinkState state, void **image, size_t *bytes) {
  if (state->image == NULL) return CUDA_ERROR_INVALID_VALUE;
  *image = state->image;
  *bytes = strlen(state->image) + 1;
  return CUDA_SUCCESS;
}

CUresult do_cuLinkDestroy(CUlinkState state) {
  free(state->image);
  free(state);
  fake_died("link");
  return CUDA_SUCCESS;
}

/* ---- Functions ------------------------------------------------------------------------------- */

CUresult do_cuFuncGetAttribute(int *out, int attribute, CUfunction f) {
  switch (attribute) {
  case FUNC_MAX_THREADS_PER_BLOCK: *out = f->max_threads; break;
  case FUNC_SHARED_SIZE_BYTES: *out = (int)fake_number("shared", 0); break;
  case FUNC_LOCAL_SIZE_BYTES: *out = (int)fake_number("local", 0); break;
  case FUNC_NUM_REGS: *out = (int)fake_number("registers", 32); break;
  case FUNC_PTX_VERSION:
  case FUNC_BINARY_VERSION: *out = cuda_attribute(75) * 10 + cuda_attribute(76); break;
  case FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *out = f->dynamic_shared > 0 ? f->dynamic_shared : cuda_attribute(8) - (int)fake_number("shared", 0);
    break;
  case FUNC_CONST_SIZE_BYTES:
  case FUNC_CACHE_MODE_CA: *out = 0; break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult do_cuFuncSetAttribute(CUfunction f, int attribute, int value) {
  if (attribute != FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
  if (value < 0 || value > cuda_attribute(97)) return CUDA_ERROR_INVALID_VALUE;
  f->dynamic_shared = value;
  return CUDA_SUCCESS;
}

CUresult do_cuFuncLoad(CUfunction f) { return f != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }

int cuda_occupancy(CUfunction f, int block, uint64_t shared) {
  if (block <= 0 || block > f->max_threads) return 0;
  int by_threads = cuda_attribute(39) / block, by_blocks = cuda_attribute(106);
  int by_registers = cuda_attribute(82) / (block * (int)fake_number("registers", 32));
  uint64_t bytes = shared + fake_number("shared", 0) + (uint64_t)cuda_attribute(111);
  int by_shared = (int)((uint64_t)cuda_attribute(81) / bytes);
  int least = by_threads < by_blocks ? by_threads : by_blocks;
  if (by_registers < least) least = by_registers;
  return by_shared < least ? by_shared : least;
}

CUresult do_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int block, size_t shared) {
  *out = cuda_occupancy(f, block, shared);
  return CUDA_SUCCESS;
}
