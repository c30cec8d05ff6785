/* The fake Vulkan: each kind of script, found and called as a plugin does, and the answers. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "vulkan.h"

#ifndef FAKE_HAS_VULKAN
int main(void) {
  puts("Vulkan's headers are not installed. Fix: install libvulkan-dev.");
  return 77;
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "../suite.h"
#include "open.h"

static struct {
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
#define X(name, level, since) PFN_##name name;
#include "vulkan_entries.def"
#undef X
  __typeof__(fake_script) *script;
  __typeof__(fake_calls) *calls;
  __typeof__(fake_live) *live;
  __typeof__(fake_kernel) *kernel;
} vk;

static void *library;
static VkInstance instance;
static VkPhysicalDevice gpu;
static VkDevice device;
static VkQueue queue, second_queue;

static void load(const char *script) {
  library = fake_open("libvulkan.so.1", "FAKE_VULKAN", script);
  fake_take(library, &vk.vkGetInstanceProcAddr, "vkGetInstanceProcAddr");
  fake_take(library, &vk.script, "fake_script");
  fake_take(library, &vk.calls, "fake_calls");
  fake_take(library, &vk.live, "fake_live");
  fake_take(library, &vk.kernel, "fake_kernel");
}

#define OK(call) ck_assert_int_eq(call, VK_SUCCESS)

static PFN_vkVoidFunction global(const char *name) { return vk.vkGetInstanceProcAddr(NULL, name); }

static VkResult create_instance(uint32_t api) {
  VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = api };
  VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application };
  vk.vkCreateInstance = (PFN_vkCreateInstance)global("vkCreateInstance");
  ck_assert_ptr_nonnull(vk.vkCreateInstance);
  return vk.vkCreateInstance(&info, NULL, &instance);
}

static void find_all(void) {
#define X(name, level, since) vk.name = (PFN_##name)vk.vkGetInstanceProcAddr(instance, #name);
#include "vulkan_entries.def"
#undef X
  vk.vkCreateInstance = (PFN_vkCreateInstance)global("vkCreateInstance");
}

static VkResult create_device(const void *chain, const char *extension) {
  float priorities[] = { 1, 1 };
  VkDeviceQueueCreateInfo queues = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 2,
                                     .pQueuePriorities = priorities };
  VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                              .pNext = chain,
                              .queueCreateInfoCount = 1,
                              .pQueueCreateInfos = &queues,
                              .enabledExtensionCount = extension != NULL,
                              .ppEnabledExtensionNames = &extension };
  return vk.vkCreateDevice(gpu, &info, NULL, &device);
}

static void load_with_device(const char *script) {
  load(script);
  OK(create_instance(VK_API_VERSION_1_3));
  find_all();
  uint32_t count = 1;
  OK(vk.vkEnumeratePhysicalDevices(instance, &count, &gpu));
  OK(create_device(NULL, NULL));
  vk.vkGetDeviceQueue(device, 0, 0, &queue);
  vk.vkGetDeviceQueue(device, 0, 1, &second_queue);
  ck_assert(queue != NULL && second_queue != NULL && queue != second_queue);
}

/* Everything that a test made must be gone by now. */
static void end(void) {
  vk.vkDestroyDevice(device, NULL);
  vk.vkDestroyInstance(instance, NULL);
  static const char *const kinds[] = { "instance", "device", "memory", "buffer", "shader", "layout", "pipeline",
                                       "pipeline cache", "descriptor pool", "descriptor set", "command pool",
                                       "command buffer", "fence", "semaphore", "query pool" };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) ck_assert_msg(vk.live(kinds[i]) == 0, "%s", kinds[i]);
}

/* ---- Finding --------------------------------------------------------------------------------- */

START_TEST(every_entry_is_found_at_its_level) {
  load("");
  enum { GLOBAL, INSTANCE, DEVICE };
  ck_assert_ptr_null(global("vkDestroyInstance"));
  ck_assert_ptr_null(global("vkNonesuch"));
  OK(create_instance(VK_API_VERSION_1_3));
  find_all();
  uint32_t count = 1;
  OK(vk.vkEnumeratePhysicalDevices(instance, &count, &gpu));
  OK(create_device(NULL, NULL));
#define X(name, level, since)                                                                            \
  ck_assert_int_eq(global(#name) != NULL, level == GLOBAL);                                              \
  ck_assert_int_eq(vk.vkGetInstanceProcAddr(instance, #name) != NULL, level != GLOBAL);                  \
  ck_assert_int_eq(vk.vkGetDeviceProcAddr(device, #name) != NULL, level == DEVICE);
#include "vulkan_entries.def"
#undef X
  end();
}
END_TEST

START_TEST(an_old_loader_and_absent_entries) {
  load("set api 10; absent vkCmdFillBuffer");
  ck_assert_ptr_null(global("vkEnumerateInstanceVersion"));
  ck_assert_int_eq(create_instance(VK_API_VERSION_1_3), VK_ERROR_INCOMPATIBLE_DRIVER);
  OK(create_instance(VK_API_VERSION_1_0));
  find_all();
  ck_assert(vk.vkWaitSemaphores == NULL && vk.vkQueueSubmit2 == NULL && vk.vkGetPhysicalDeviceProperties2 == NULL);
  ck_assert(vk.vkQueueSubmit != NULL && vk.vkCmdFillBuffer == NULL && vk.vkCmdCopyBuffer != NULL);
  ck_assert_ptr_null(vk.script("absent vkGetInstanceProcAddr"));
  ck_assert_ptr_null(dlsym(library, "vkGetInstanceProcAddr"));
}
END_TEST

/* ---- Starting -------------------------------------------------------------------------------- */

START_TEST(instances_that_fail) {
  load("fail vkCreateInstance VK_ERROR_INITIALIZATION_FAILED at 1; fail vkEnumeratePhysicalDevices "
       "VK_ERROR_INITIALIZATION_FAILED at 1");
  uint32_t version, count = 0;
  PFN_vkEnumerateInstanceVersion ask = (PFN_vkEnumerateInstanceVersion)global("vkEnumerateInstanceVersion");
  OK(ask(&version));
  ck_assert_uint_eq(VK_API_VERSION_MINOR(version), 3);
  ck_assert_int_eq(create_instance(VK_API_VERSION_1_3), VK_ERROR_INITIALIZATION_FAILED);
  OK(create_instance(VK_API_VERSION_1_3));
  find_all();
  ck_assert_int_eq(vk.vkEnumeratePhysicalDevices(instance, &count, NULL), VK_ERROR_INITIALIZATION_FAILED);
  const char *layer = "VK_LAYER_nonesuch";
  VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .enabledLayerCount = 1,
                                .ppEnabledLayerNames = &layer };
  VkInstance other;
  ck_assert_int_eq(vk.vkCreateInstance(&info, NULL, &other), VK_ERROR_LAYER_NOT_PRESENT);
  ck_assert_uint_eq(vk.calls("vkCreateInstance"), 3);
}
END_TEST

START_TEST(no_device_and_several) {
  load("set devices 0");
  OK(create_instance(VK_API_VERSION_1_3));
  find_all();
  uint32_t count = 9;
  OK(vk.vkEnumeratePhysicalDevices(instance, &count, NULL));
  ck_assert_uint_eq(count, 0);
  ck_assert_ptr_null(vk.script("set devices 3"));
  VkPhysicalDevice all[2];
  count = 2;
  ck_assert_int_eq(vk.vkEnumeratePhysicalDevices(instance, &count, all), VK_INCOMPLETE);
  ck_assert_uint_eq(count, 2);
  VkPhysicalDeviceIDProperties first = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES }, second = first;
  VkPhysicalDeviceProperties2 p = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &first };
  vk.vkGetPhysicalDeviceProperties2(all[0], &p);
  p.pNext = &second;
  vk.vkGetPhysicalDeviceProperties2(all[1], &p);
  ck_assert_int_ne(memcmp(first.deviceUUID, second.deviceUUID, VK_UUID_SIZE), 0);
}
END_TEST

START_TEST(what_a_device_says_and_refuses) {
  load("set name \"Fake V\"; set subgroup 64; set memory 123456; set features none");
  OK(create_instance(VK_API_VERSION_1_3));
  find_all();
  uint32_t count = 1;
  OK(vk.vkEnumeratePhysicalDevices(instance, &count, &gpu));
  VkPhysicalDeviceVulkan13Properties p13 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES };
  VkPhysicalDeviceVulkan11Properties p11 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                                             .pNext = &p13 };
  VkPhysicalDeviceProperties2 p = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &p11 };
  vk.vkGetPhysicalDeviceProperties2(gpu, &p);
  ck_assert_str_eq(p.properties.deviceName, "Fake V");
  ck_assert_uint_eq(p11.subgroupSize, 64);
  ck_assert_uint_eq(p13.maxSubgroupSize, 64);
  ck_assert_uint_eq(p.properties.limits.maxComputeWorkGroupInvocations, 1024);
  VkPhysicalDeviceMemoryProperties m;
  vk.vkGetPhysicalDeviceMemoryProperties(gpu, &m);
  ck_assert_uint_eq(m.memoryHeaps[0].size, 123456);
  VkPhysicalDeviceVulkan12Features f12 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                           .timelineSemaphore = VK_TRUE };
  VkPhysicalDeviceFeatures2 f = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &f12 };
  f.features.shaderInt64 = VK_TRUE;
  vk.vkGetPhysicalDeviceFeatures2(gpu, &f);
  ck_assert(f.features.shaderInt64 == VK_FALSE && f12.timelineSemaphore == VK_FALSE && f.pNext == &f12);
  OK(create_device(&f, NULL));
  f12.timelineSemaphore = VK_TRUE;
  VkDevice first = device;
  ck_assert_int_eq(create_device(&f, NULL), VK_ERROR_FEATURE_NOT_PRESENT);
  ck_assert_int_eq(create_device(NULL, "VK_KHR_nonesuch"), VK_ERROR_EXTENSION_NOT_PRESENT);
  ck_assert_ptr_null(vk.script(""));
  vk.vkGetPhysicalDeviceFeatures2(gpu, &f);
  ck_assert(f.features.shaderInt64 == VK_TRUE && f12.bufferDeviceAddress == VK_TRUE);
  vk.vkDestroyDevice(first, NULL);
  OK(create_device(&f, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME));
  end();
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */

static VkResult allocate(uint64_t bytes, uint32_t type, VkDeviceMemory *out) {
  VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .allocationSize = bytes,
                                .memoryTypeIndex = type };
  return vk.vkAllocateMemory(device, &info, NULL, out);
}

START_TEST(memory_is_real_and_bounded) {
  load_with_device("set memory 4096; fail vkAllocateMemory VK_ERROR_OUT_OF_DEVICE_MEMORY at 3");
  VkDeviceMemory local, host, more;
  uint8_t *bytes;
  OK(allocate(4000, 0, &local));
  ck_assert_int_eq(allocate(97, 0, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  ck_assert_int_eq(allocate(16, 1, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY); /* as ordered */
  OK(allocate(1 << 20, 1, &host));
  OK(vk.vkMapMemory(device, host, 16, VK_WHOLE_SIZE, 0, (void **)&bytes));
  ck_assert(bytes[0] == 0xA5 && bytes[(1 << 20) - 17] == 0xA5); /* nobody cleared it */
  ck_assert_int_eq(vk.vkMapMemory(device, local, 0, 16, 0, (void **)&bytes), VK_ERROR_MEMORY_MAP_FAILED);
  ck_assert_int_eq(vk.vkMapMemory(device, host, 16, 1 << 20, 0, (void **)&bytes), VK_ERROR_MEMORY_MAP_FAILED);
  vk.vkFreeMemory(device, local, NULL);
  OK(allocate(4096, 3, &local));
  vk.vkFreeMemory(device, local, NULL);
  vk.vkFreeMemory(device, host, NULL);
  static _Alignas(4096) uint8_t own[4096];
  VkImportMemoryHostPointerInfoEXT import = { .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                              .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                              .pHostPointer = own };
  VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .pNext = &import,
                                .allocationSize = sizeof own,
                                .memoryTypeIndex = 1 };
  OK(vk.vkAllocateMemory(device, &info, NULL, &host));
  OK(vk.vkMapMemory(device, host, 0, VK_WHOLE_SIZE, 0, (void **)&bytes));
  ck_assert_ptr_eq(bytes, own);
  vk.vkFreeMemory(device, host, NULL);
  end();
}
END_TEST

/* ---- A small program ------------------------------------------------------------------------- */

/* A module with one entry point of that name, of less than 16 letters. */
static VkResult shader_of(const char *name, VkShaderModule *out) {
  uint32_t words[13] = { 0x07230203, 0x00010300, 0, 10, 0, 2 << 16 | 17, 1, 6 << 16 | 15, 5, 1 };
  memset(&words[10], 0, 12);
  memcpy(&words[10], name, strlen(name));
  VkShaderModuleCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                    .codeSize = sizeof words,
                                    .pCode = words };
  return vk.vkCreateShaderModule(device, &info, NULL, out);
}

typedef struct bound {
  VkBuffer buffer;
  VkDeviceMemory memory;
  uint32_t *words;
} bound;

static bound buffer_of(uint64_t bytes) {
  bound b;
  VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                              .size = bytes,
                              .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT };
  VkMemoryRequirements needs;
  OK(vk.vkCreateBuffer(device, &info, NULL, &b.buffer));
  vk.vkGetBufferMemoryRequirements(device, b.buffer, &needs);
  ck_assert(needs.size >= bytes && needs.size % needs.alignment == 0);
  OK(allocate(needs.size, 1, &b.memory));
  OK(vk.vkBindBufferMemory(device, b.buffer, b.memory, 0));
  ck_assert_int_eq(vk.vkBindBufferMemory(device, b.buffer, b.memory, 0), VK_ERROR_UNKNOWN); /* once for all */
  OK(vk.vkMapMemory(device, b.memory, 0, VK_WHOLE_SIZE, 0, (void **)&b.words));
  return b;
}

static void drop_buffer(bound *b) {
  vk.vkDestroyBuffer(device, b->buffer, NULL);
  vk.vkFreeMemory(device, b->memory, NULL);
}

typedef struct program {
  VkShaderModule shader;
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkDescriptorPool pool;
  VkDescriptorSet set;
  VkCommandPool commands;
  VkCommandBuffer buffer;
} program;

static program program_of(const char *entry, uint32_t push_bytes, const bound *buffers, uint32_t count) {
  program p;
  OK(shader_of(entry, &p.shader));
  VkDescriptorSetLayoutBinding bindings[4];
  for (uint32_t i = 0; i < count; i++)
    bindings[i] =
        (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  VkDescriptorSetLayoutCreateInfo set_info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                               .bindingCount = count,
                                               .pBindings = bindings };
  OK(vk.vkCreateDescriptorSetLayout(device, &set_info, NULL, &p.set_layout));
  VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes };
  VkPipelineLayoutCreateInfo layout_info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &p.set_layout,
                                             .pushConstantRangeCount = push_bytes > 0,
                                             .pPushConstantRanges = &range };
  OK(vk.vkCreatePipelineLayout(device, &layout_info, NULL, &p.layout));
  VkComputePipelineCreateInfo pipeline_info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                           .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                           .module = p.shader,
                                                           .pName = entry },
                                                .layout = p.layout };
  OK(vk.vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_info, NULL, &p.pipeline));
  VkDescriptorPoolCreateInfo pool_info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1 };
  OK(vk.vkCreateDescriptorPool(device, &pool_info, NULL, &p.pool));
  VkDescriptorSetAllocateInfo allocate_info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                .descriptorPool = p.pool,
                                                .descriptorSetCount = 1,
                                                .pSetLayouts = &p.set_layout };
  OK(vk.vkAllocateDescriptorSets(device, &allocate_info, &p.set));
  VkDescriptorSet too_many;
  ck_assert_int_eq(vk.vkAllocateDescriptorSets(device, &allocate_info, &too_many), VK_ERROR_OUT_OF_POOL_MEMORY);
  for (uint32_t i = 0; i < count; i++) {
    VkDescriptorBufferInfo info = { buffers[i].buffer, 0, VK_WHOLE_SIZE };
    VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                   .dstSet = p.set,
                                   .dstBinding = i,
                                   .descriptorCount = 1,
                                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                   .pBufferInfo = &info };
    vk.vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
  }
  VkCommandPoolCreateInfo commands_info = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO };
  OK(vk.vkCreateCommandPool(device, &commands_info, NULL, &p.commands));
  VkCommandBufferAllocateInfo buffer_info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = p.commands,
                                              .commandBufferCount = 1 };
  OK(vk.vkAllocateCommandBuffers(device, &buffer_info, &p.buffer));
  return p;
}

static void drop_program(program *p) {
  vk.vkDestroyCommandPool(device, p->commands, NULL);
  vk.vkDestroyDescriptorPool(device, p->pool, NULL);
  vk.vkDestroyPipeline(device, p->pipeline, NULL);
  vk.vkDestroyPipelineLayout(device, p->layout, NULL);
  vk.vkDestroyDescriptorSetLayout(device, p->set_layout, NULL);
  vk.vkDestroyShaderModule(device, p->shader, NULL);
}

static void begin(const program *p) {
  VkCommandBufferBeginInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };
  OK(vk.vkBeginCommandBuffer(p->buffer, &info));
  vk.vkCmdBindPipeline(p->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
  vk.vkCmdBindDescriptorSets(p->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &p->set, 0, NULL);
}

static VkFence fence_of(void) {
  VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
  VkFence fence;
  OK(vk.vkCreateFence(device, &info, NULL, &fence));
  return fence;
}

static VkResult submit(const program *p, VkFence fence) {
  VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &p->buffer};
  return vk.vkQueueSubmit(queue, 1, &info, fence);
}

static fake_launch seen;
static void look(const fake_launch *l) { seen = *l; }

START_TEST(dispatches_run_c_functions) {
  load_with_device("kernel saxpy saxpy");
  bound b[3] = { buffer_of(16), buffer_of(16), buffer_of(12) };
  program p = program_of("saxpy", 4, b, 2);
  float a = 2, x[4] = { 1, 2, 3, 4 }, y[4] = { 10, 20, 30, 40 };
  memcpy(b[0].words, x, sizeof x);
  memcpy(b[1].words, y, sizeof y);
  VkQueryPoolCreateInfo query_info = { .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                       .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                       .queryCount = 2 };
  VkQueryPool queries;
  OK(vk.vkCreateQueryPool(device, &query_info, NULL, &queries));
  begin(&p);
  vk.vkCmdResetQueryPool(p.buffer, queries, 0, 2);
  vk.vkCmdWriteTimestamp(p.buffer, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries, 0);
  vk.vkCmdPushConstants(p.buffer, p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &a);
  vk.vkCmdDispatch(p.buffer, 1, 1, 1);
  vk.vkCmdPipelineBarrier(p.buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0,
                          NULL, 0, NULL);
  VkBufferCopy region = { 0, 8, 4 };
  vk.vkCmdCopyBuffer(p.buffer, b[1].buffer, b[0].buffer, 1, &region);
  vk.vkCmdUpdateBuffer(p.buffer, b[2].buffer, 0, 12, (const uint32_t[]){ 5, 6, 7 });
  vk.vkCmdFillBuffer(p.buffer, b[0].buffer, 12, VK_WHOLE_SIZE, 0x3F800000);
  vk.vkCmdWriteTimestamp2(p.buffer, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries, 1);
  OK(vk.vkEndCommandBuffer(p.buffer));
  VkFence fence = fence_of();
  OK(submit(&p, fence));
  OK(vk.vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
  OK(vk.vkGetFenceStatus(device, fence));
  OK(vk.vkResetFences(device, 1, &fence));
  ck_assert_int_eq(vk.vkGetFenceStatus(device, fence), VK_NOT_READY);
  ck_assert_int_eq(vk.vkWaitForFences(device, 1, &fence, VK_TRUE, 1000000), VK_TIMEOUT);
  memcpy(x, b[0].words, sizeof x);
  memcpy(y, b[1].words, sizeof y);
  ck_assert(y[0] == 12 && y[1] == 24 && y[2] == 36 && y[3] == 48);
  ck_assert(x[1] == 2 && x[2] == 12 && x[3] == 1);
  uint64_t times[2];
  OK(vk.vkGetQueryPoolResults(device, queries, 0, 2, sizeof times, times, 8, VK_QUERY_RESULT_64_BIT));
  ck_assert_uint_ge(times[1], times[0]);
  vk.vkResetQueryPool(device, queries, 1, 1);
  ck_assert_int_eq(vk.vkGetQueryPoolResults(device, queries, 0, 2, sizeof times, times, 8, VK_QUERY_RESULT_64_BIT),
                   VK_NOT_READY);
  vk.kernel("saxpy", look);
  begin(&p);
  vk.vkCmdDispatchIndirect(p.buffer, b[2].buffer, 0);
  OK(vk.vkEndCommandBuffer(p.buffer));
  OK(submit(&p, VK_NULL_HANDLE));
  OK(vk.vkQueueWaitIdle(queue));
  ck_assert(seen.grid[0] == 5 && seen.grid[1] == 6 && seen.grid[2] == 7);
  ck_assert(seen.argument_count == 3 && seen.sizes[0] == 4 && seen.sizes[1] == 16 && seen.arguments[2] == b[1].words);
  VkBufferDeviceAddressInfo address = { .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = b[1].buffer };
  ck_assert_uint_eq(vk.vkGetBufferDeviceAddress(device, &address), (uintptr_t)b[1].words);
  vk.vkDestroyFence(device, fence, NULL);
  vk.vkDestroyQueryPool(device, queries, NULL);
  drop_program(&p);
  for (int i = 0; i < 3; i++) drop_buffer(&b[i]);
  end();
}
END_TEST

START_TEST(submits_and_pipelines_that_fail) {
  load_with_device("fail vkQueueSubmit VK_ERROR_OUT_OF_DEVICE_MEMORY at 2; fail vkCreateComputePipelines "
                   "VK_ERROR_OUT_OF_HOST_MEMORY at 2");
  bound b = buffer_of(16);
  program p = program_of("main", 0, &b, 1);
  begin(&p);
  vk.vkCmdDispatch(p.buffer, 1, 1, 1);
  OK(vk.vkEndCommandBuffer(p.buffer));
  OK(submit(&p, VK_NULL_HANDLE));
  ck_assert_int_eq(submit(&p, VK_NULL_HANDLE), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  OK(submit(&p, VK_NULL_HANDLE));
  OK(vk.vkDeviceWaitIdle(device));
  VkComputePipelineCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                       .stage = { .module = p.shader, .pName = "nonesuch" },
                                       .layout = p.layout };
  VkPipeline pipeline;
  ck_assert_int_eq(vk.vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
                   VK_ERROR_OUT_OF_HOST_MEMORY);
  ck_assert_int_eq(vk.vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline), VK_ERROR_UNKNOWN);
  ck_assert(pipeline == VK_NULL_HANDLE);
  uint32_t words[] = { 0x07230203, 0, 0, 0, 0, 0 };
  VkShaderModuleCreateInfo bad = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = 24, .pCode = words};
  VkShaderModule module;
  ck_assert_int_eq(vk.vkCreateShaderModule(device, &bad, NULL, &module), VK_ERROR_UNKNOWN); /* a word of no length */
  words[5] = 9 << 16 | 15;
  ck_assert_int_eq(vk.vkCreateShaderModule(device, &bad, NULL, &module), VK_ERROR_UNKNOWN); /* beyond the end */
  words[0] = 0;
  ck_assert_int_eq(vk.vkCreateShaderModule(device, &bad, NULL, &module), VK_ERROR_UNKNOWN);
  drop_program(&p);
  drop_buffer(&b);
  end();
}
END_TEST

START_TEST(pipeline_caches_keep_and_know_their_device) {
  load_with_device("");
  bound b = buffer_of(16);
  program p = program_of("main", 0, &b, 1);
  VkPipelineCacheCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO };
  VkPipelineCache cache, again;
  OK(vk.vkCreatePipelineCache(device, &info, NULL, &cache));
  VkComputePipelineCreateInfo pipeline_info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = { .module = p.shader, .pName = "main" },
                                                .layout = p.layout };
  VkPipeline pipeline;
  OK(vk.vkCreateComputePipelines(device, cache, 1, &pipeline_info, NULL, &pipeline));
  uint8_t data[64], back[64];
  size_t bytes = 0, back_bytes = sizeof back;
  OK(vk.vkGetPipelineCacheData(device, cache, &bytes, NULL));
  ck_assert(bytes > 32 && bytes <= sizeof data);
  size_t few = bytes - 1;
  ck_assert_int_eq(vk.vkGetPipelineCacheData(device, cache, &few, data), VK_INCOMPLETE);
  OK(vk.vkGetPipelineCacheData(device, cache, &bytes, data));
  info.initialDataSize = bytes;
  info.pInitialData = data;
  OK(vk.vkCreatePipelineCache(device, &info, NULL, &again));
  OK(vk.vkGetPipelineCacheData(device, again, &back_bytes, back));
  ck_assert(back_bytes == bytes && memcmp(back, data, bytes) == 0);
  vk.vkDestroyPipelineCache(device, again, NULL);
  data[8] ^= 1; /* another vendor's */
  OK(vk.vkCreatePipelineCache(device, &info, NULL, &again));
  back_bytes = sizeof back;
  OK(vk.vkGetPipelineCacheData(device, again, &back_bytes, back));
  ck_assert_int_ne(memcmp(back, data, bytes), 0);
  OK(vk.vkMergePipelineCaches(device, again, 1, &cache));
  vk.vkDestroyPipelineCache(device, again, NULL);
  vk.vkDestroyPipelineCache(device, cache, NULL);
  vk.vkDestroyPipeline(device, pipeline, NULL);
  drop_program(&p);
  drop_buffer(&b);
  end();
}
END_TEST

/* ---- Waiting --------------------------------------------------------------------------------- */

static VkSemaphore semaphore_of(bool is_timeline, uint64_t value) {
  VkSemaphoreTypeCreateInfo type = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                     .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                     .initialValue = value };
  VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = is_timeline ? &type : NULL};
  VkSemaphore semaphore;
  OK(vk.vkCreateSemaphore(device, &info, NULL, &semaphore));
  return semaphore;
}

static void submit_between(VkQueue to, VkSemaphore wait, uint64_t wait_value, VkSemaphore signal,
                           uint64_t signal_value) {
  VkSemaphoreSubmitInfo waits = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, .semaphore = wait, .value = wait_value};
  VkSemaphoreSubmitInfo signals = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                    .semaphore = signal,
                                    .value = signal_value };
  VkSubmitInfo2 info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                         .waitSemaphoreInfoCount = wait != VK_NULL_HANDLE,
                         .pWaitSemaphoreInfos = &waits,
                         .signalSemaphoreInfoCount = signal != VK_NULL_HANDLE,
                         .pSignalSemaphoreInfos = &signals };
  OK(vk.vkQueueSubmit2(to, 1, &info, VK_NULL_HANDLE));
}

static VkResult wait_for(VkSemaphore semaphore, uint64_t value, uint64_t timeout_ns) {
  VkSemaphoreWaitInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                               .semaphoreCount = 1,
                               .pSemaphores = &semaphore,
                               .pValues = &value };
  return vk.vkWaitSemaphores(device, &info, timeout_ns);
}

START_TEST(queues_wait_for_points_that_come_later) {
  load_with_device("");
  VkSemaphore line = semaphore_of(true, 3), once = semaphore_of(false, 0);
  uint64_t value;
  submit_between(queue, line, 10, once, 0); /* waits for the host */
  submit_between(second_queue, once, 0, line, 20);
  OK(vk.vkGetSemaphoreCounterValue(device, line, &value));
  ck_assert_uint_eq(value, 3);
  OK(wait_for(line, 3, 0));
  ck_assert_int_eq(wait_for(line, 4, 0), VK_TIMEOUT);
  ck_assert_int_eq(wait_for(line, 20, 1000000), VK_TIMEOUT);
  VkSemaphoreSignalInfo signal = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = line, .value = 10 };
  OK(vk.vkSignalSemaphore(device, &signal));
  OK(wait_for(line, 20, UINT64_MAX));
  ck_assert_int_eq(vk.vkSignalSemaphore(device, &signal), VK_ERROR_UNKNOWN); /* it only grows */
  /* The same by the older call. */
  uint64_t wait_value = 20, signal_value = 21;
  VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  VkTimelineSemaphoreSubmitInfo values = { .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                           .waitSemaphoreValueCount = 1,
                                           .pWaitSemaphoreValues = &wait_value,
                                           .signalSemaphoreValueCount = 1,
                                           .pSignalSemaphoreValues = &signal_value };
  VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                        .pNext = &values,
                        .waitSemaphoreCount = 1,
                        .pWaitSemaphores = &line,
                        .pWaitDstStageMask = &stage,
                        .signalSemaphoreCount = 1,
                        .pSignalSemaphores = &line };
  OK(vk.vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
  OK(wait_for(line, 21, UINT64_MAX));
  OK(vk.vkDeviceWaitIdle(device));
  vk.vkDestroySemaphore(device, line, NULL);
  vk.vkDestroySemaphore(device, once, NULL);
  end();
}
END_TEST

static void *wait_on_thread(void *ctx) { return (void *)(intptr_t)wait_for(ctx, 1, UINT64_MAX); }

START_TEST(a_device_that_is_lost_wakes_everyone) {
  load_with_device("lose at 2");
  bound b = buffer_of(16);
  program p = program_of("main", 0, &b, 1);
  VkSemaphore never = semaphore_of(true, 0);
  VkFence fence = fence_of();
  pthread_t thread;
  void *answer;
  submit_between(second_queue, never, 1, VK_NULL_HANDLE, 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, wait_on_thread, never), 0);
  begin(&p);
  vk.vkCmdDispatch(p.buffer, 1, 1, 1);
  OK(vk.vkEndCommandBuffer(p.buffer));
  OK(submit(&p, fence));
  OK(vk.vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
  OK(vk.vkResetFences(device, 1, &fence));
  OK(submit(&p, fence));
  ck_assert_int_eq(vk.vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX), VK_ERROR_DEVICE_LOST);
  pthread_join(thread, &answer);
  ck_assert_int_eq((VkResult)(intptr_t)answer, VK_ERROR_DEVICE_LOST);
  ck_assert_int_eq(submit(&p, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
  ck_assert_int_eq(vk.vkDeviceWaitIdle(device), VK_ERROR_DEVICE_LOST);
  ck_assert_int_eq(vk.vkGetFenceStatus(device, fence), VK_ERROR_DEVICE_LOST);
  vk.vkDestroyFence(device, fence, NULL);
  vk.vkDestroySemaphore(device, never, NULL);
  drop_program(&p);
  drop_buffer(&b);
  end();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    every_entry_is_found_at_its_level, an_old_loader_and_absent_entries, instances_that_fail, no_device_and_several,
    what_a_device_says_and_refuses, memory_is_real_and_bounded, dispatches_run_c_functions,
    submits_and_pipelines_that_fail, pipeline_caches_keep_and_know_their_device,
    queues_wait_for_points_that_come_later, a_device_that_is_lost_wakes_everyone, NULL
  };
  return run_suite("fake Vulkan", 60, tests);
}
#endif
