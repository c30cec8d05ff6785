/* What all contestants share. */
#include "driver.h"

void bench_driver_close(bench_driver *d) {
  if (d->table) d->table->close(d);
  *d = (bench_driver){0};
}
