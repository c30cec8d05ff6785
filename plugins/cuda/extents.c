/* Words that only the device knows as a launch begins: lengths and grids that stand in its memory, and its clock. A
 * small kernel puts them where they are read, and counts those that were too large. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* Invocation i does patch i, i + 64, ... of 40 bytes each. */
static const char begin_text[] =
  ".version 6.3\n"
  ".target sm_70\n"
  ".address_size 64\n"
  ".visible .entry vyre_begin(.param .u64 patches, .param .u32 count)\n"
  ".reqntid 64, 1, 1\n"
  "{\n"
  "  .reg .pred %p<6>;\n"
  "  .reg .b32 %r<6>;\n"
  "  .reg .b64 %d<12>;\n"
  "  ld.param.u64 %d0, [patches];\n"
  "  cvta.to.global.u64 %d0, %d0;\n"
  "  ld.param.u32 %r1, [count];\n"
  "  mov.u32 %r0, %tid.x;\n"
  "next:\n"
  "  setp.ge.u32 %p0, %r0, %r1;\n"
  "  @%p0 ret;\n"
  "  mad.wide.u32 %d1, %r0, 40, %d0;\n"
  "  ld.global.u64 %d2, [%d1];\n"                  /* from */
  "  ld.global.u64 %d3, [%d1+8];\n"                /* to */
  "  ld.global.u64 %d4, [%d1+16];\n"               /* limit */
  "  ld.global.u64 %d5, [%d1+24];\n"               /* clamped */
  "  ld.global.u32 %r2, [%d1+32];\n"               /* kind */
  "  setp.eq.u32 %p1, %r2, 3;\n"
  "  @%p1 bra clock;\n"
  "  setp.eq.u32 %p2, %r2, 1;\n"
  "  @%p2 ld.global.u64 %d6, [%d2];\n"
  "  @!%p2 ld.global.u32 %r3, [%d2];\n"
  "  @!%p2 cvt.u64.u32 %d6, %r3;\n"
  "  setp.gt.u64 %p3, %d6, %d4;\n"
  "  min.u64 %d6, %d6, %d4;\n"
  "  setp.ne.and.u64 %p4, %d5, 0, %p3;\n"
  "  @%p4 red.global.add.u64 [%d5], 1;\n"
  "  setp.eq.u32 %p5, %r2, 2;\n"
  "  cvt.u32.u64 %r4, %d6;\n"
  "  @%p5 st.global.u32 [%d3], %r4;\n"
  "  @!%p5 st.global.u64 [%d3], %d6;\n"
  "  bra done;\n"
  "clock:\n"
  "  mov.u64 %d6, %globaltimer;\n"
  "  st.global.u64 [%d3], %d6;\n"
  "done:\n"
  "  add.u32 %r0, %r0, 64;\n"
  "  bra next;\n"
  "}\n";

_Static_assert(sizeof(cuda_patch) == 40 && offsetof(cuda_patch, limit) == 16 && offsetof(cuda_patch, clamped) == 24 &&
                 offsetof(cuda_patch, kind) == 32 && CUDA_BEGIN_THREADS == 64,
               "the text has these numbers");

static vyre_status load(vyre_plugin_device *device, cuda_module *m, vyre_error *error) {
  const cuda_api *api = &device->plugin->api;
  cuda_image image = { begin_text, sizeof begin_text, true, "vyre_begin" };
  cuda_log *log = malloc(sizeof *log);
  int registers;
  if (log == NULL) return gpu_no_memory(error);
  CUresult code = cuda_jit_load(api, &image, &m->module, log);
  vyre_status status = cuda_is_sticky(code)   ? cuda_answer(device, code, "loading a kernel of the plugin", error)
                       : code != CUDA_SUCCESS ? cuda_jit_fail(api, code, &image, log, error)
                                              : VYRE_OK;
  free(log);
  if (status != VYRE_OK) return status;
  code = api->cuModuleGetFunction(&m->entries[0].function, m->module, "vyre_begin");
  if (code == CUDA_SUCCESS) code = api->cuFuncGetAttribute(&registers, CU_FUNC_NUM_REGS, m->entries[0].function);
  if (code == CUDA_SUCCESS) return VYRE_OK;
  api->cuModuleUnload(m->module);
  return cuda_answer(device, code, "finding a kernel of the plugin", error);
}

static vyre_status make(vyre_plugin_device *device, vyre_error *error) {
  vyre_status status = cuda_loading_begin(device, "vyre_begin", error);
  if (status != VYRE_OK) return status;
  cuda_module *m = calloc(1, sizeof *m + sizeof *m->entries);
  status = m != NULL ? load(device, m, error) : gpu_no_memory(error);
  if (status == VYRE_OK) device->begin = m;
  else free(m);
  cuda_waiting_end(device);
  return status;
}

vyre_status cuda_begin_kernel(vyre_plugin_device *device, CUfunction *out, vyre_error *error) {
  vyre_status status = VYRE_OK;
  *out = NULL;
  pthread_mutex_lock(&device->lock);
  if (device->begin == NULL) status = make(device, error);
  if (device->begin != NULL) *out = device->begin->entries[0].function;
  pthread_mutex_unlock(&device->lock);
  return status;
}
