/* Any bytes as a kernel: as they are, and with the size that they have in their header. They are refused with a fix, or
 * they can be printed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
  if (!holds) abort();
}

static void check(const void *kernel, size_t size) {
  vyre_error error = VYRE_ERROR_INIT;
  char *text;
  vyre_status status = vyre_kernel_verify(kernel, size, &error);
  require(status == VYRE_OK || status == VYRE_ERR_INVALID_FILE || status == VYRE_ERR_UNSUPPORTED ||
          status == VYRE_ERR_NO_MEMORY);
  if (status == VYRE_ERR_NO_MEMORY) return;
  if (status != VYRE_OK) require(strstr(error.text, "Fix: ") != NULL);
  vyre_status printed = vyre_kernel_print(kernel, size, &text, NULL, NULL);
  require(printed == status || printed == VYRE_ERR_NO_MEMORY);
  require((text != NULL) == (printed == VYRE_OK));
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size + 1); /* aligned, and of exactly that size for the sanitizer */
  if (copy == NULL) return 0;
  memcpy(copy, data, size);
  check(copy, size);
  if (size >= sizeof(vyre_kernel_header)) {
    vyre_kernel_header *h = (vyre_kernel_header *)(void *)copy;
    h->magic = VYRE_KERNEL_MAGIC;
    h->header_bytes = sizeof *h;
    h->bytes = (uint32_t)size & ~7u;
    check(copy, size & ~(size_t)7);
  }
  free(copy);
  return 0;
}
