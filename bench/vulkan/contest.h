/* The benchmark of the Vulkan backend: what its parts share. On one side is vyre through its public API, on the other
 * GLSL and bare Vulkan, in one process and on one driver. Functions that may fail return NULL, or why they did. */
#ifndef VYRE_BENCH_VULKAN_CONTEST_H
#define VYRE_BENCH_VULKAN_CONTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>

#include "peers/glsl/device.h"

enum { CONTEST_BUFFERS = 4, CONTEST_PARAMS = 3 };

typedef enum contest_fill { FILL_ZERO, FILL_BITS, FILL_SIGNED /* f32 from -1 to 1 */, FILL_POISON } contest_fill;

/* A parameter of the program, of the shader's push constants, or of both; 4 bytes. */
typedef struct contest_param {
  const char *name;
  vyre_type type;
  uint32_t bits;
  bool shader_only; /* where the program asks a buffer for its length */
} contest_param;

/* Binding i of the shader is buffer i; elements have 4 bytes. */
typedef struct contest_buffer {
  const char *name;
  uint32_t count;
  contest_fill fill;
} contest_buffer;

typedef struct contest_shader {
  const uint32_t *code;
  size_t bytes;
} contest_shader;

typedef struct contest_kernel {
  const char *name;
  const char *program;               /* a file below bench/ */
  contest_shader shader, emulating;  /* |emulating|: for devices whose fma rounds twice, if the shader has one */
  bool is_float;
  uint32_t groups[2];
  contest_param params[CONTEST_PARAMS];
  contest_buffer buffers[CONTEST_BUFFERS];
} contest_kernel;

extern const contest_kernel contest_kernels[];
extern const uint32_t contest_kernel_count;
extern const contest_kernel contest_small; /* so little that only its launch counts */

/* vyre.c */
typedef struct vyre_side {
  vyre_context *context;
  vyre_device *device;
  vyre_queue *queue;
} vyre_side;

typedef struct vyre_job {
  const vyre_side *side;
  vyre_program *program;
  vyre_executable *executable;
  vyre_set *set;
  vyre_batch *batch;
  vyre_buffer *buffers[CONTEST_BUFFERS];
} vyre_job;

/* |log| and |config| may be NULL. */
const char *vyre_side_open(const vyre_config *config, vyre_log *log, vyre_side *out);
void vyre_side_close(vyre_side *side);
/* Whether the device promises what VYRE_NUMERIC_* say. */
bool vyre_side_promises(const vyre_side *side, uint32_t numeric);
const char *vyre_job_compile(const vyre_side *side, const contest_kernel *kernel, bool unchecked, vyre_job *out);
/* Buffers, filled; and a batch of |launches|, one after another. */
const char *vyre_job_bind(vyre_job *job, const contest_kernel *kernel, uint32_t launches);
const char *vyre_job_run(void *job);
const char *vyre_job_read(vyre_job *job, uint32_t buffer, void *to, size_t bytes);
void vyre_job_destroy(vyre_job *job);

/* peer.c */
typedef struct peer_job {
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkDescriptorPool pool;
  VkDescriptorSet set;
  vk_memory buffers[CONTEST_BUFFERS];
  VkCommandBuffer commands;
  VkSemaphore progress; /* a timeline */
  uint64_t serial;
} peer_job;

const char *peer_job_compile(const contest_kernel *kernel, bool emulate, peer_job *out);
const char *peer_job_bind(peer_job *job, const contest_kernel *kernel, uint32_t launches);
const char *peer_job_run(void *job);       /* waits for the timeline */
const char *peer_job_run_fence(void *job); /* for a fence */
const char *peer_job_read(peer_job *job, uint32_t buffer, void *to, size_t bytes);
void peer_job_destroy(peer_job *job);

/* contest.c */
typedef struct contestant {
  const char *(*run)(void *job);
  void *job;
  double wall_ns, processor_ns; /* medians, for one of the runs of a sample */
} contestant;

/* The contents of a buffer at the start; the caller frees it. NULL without memory. */
uint32_t *contest_contents(const contest_kernel *kernel, uint32_t buffer);
/* All take turns, A B C, then C B A, for |seconds|. Processor time is that of all threads of the process: a device that
 * is a CPU works there, and what else the machine does is not counted. */
const char *contest_measure(contestant *contestants, uint32_t count, uint32_t runs, double seconds);

/* The commands. They give the exit status. */
int contest_run_kernels(const vyre_side *side, const char *const *names, int name_count, double seconds);
int contest_run_submit(const vyre_side *side, double seconds);
int contest_run_start(void);
/* In a process of its own. */
int contest_start_once(const char *kernel);
/* Says what is wrong, and gives 1. */
int contest_complain(const char *what, const char *why);

#endif
