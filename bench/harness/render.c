#include "render.h"

static ssize_t keep(void *writer, const char *bytes, size_t count) {
  vyre_write_bytes(writer, bytes, count);
  return ((vyre_writer *)writer)->failed ? 0 : (ssize_t)count;
}

bool bench_render(const bench_report *report, bool (*write)(FILE *, const bench_report *), vyre_writer *out) {
  FILE *file = fopencookie(out, "w", (cookie_io_functions_t){ .write = keep });
  if (!file) return false;
  char buffer[BUFSIZ];
  setvbuf(file, buffer, _IOFBF, sizeof buffer);
  bool written = write(file, report);
  return fclose(file) == 0 && written && !out->failed;
}
