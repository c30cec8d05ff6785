/* What the driver's own tool tells of the device beside the measurements: clocks, throttling, temperature. A program
 * `facts` in the directory of peers asks it, so that the harness knows no tool of any vendor:
 *
 *   harness: device UUID        32 hexadecimal digits
 *   facts:   fact KEY VALUE     one line each; a * in KEY stands for before or after
 *   facts:   done
 *
 * It is run once the device is warm and after each case. */
#ifndef VYRE_BENCH_FACTS_H
#define VYRE_BENCH_FACTS_H

#include "record.h"

/* Asks, and puts what is told among the device's pairs of the report: under "before" if |is_first|, else under "after".
 * The values of "throttle" are gathered over all calls, "none" as long as there is nothing else. Does nothing without
 * the program or for a device without uuid; a program that fails is passed over. False without memory. */
bool bench_facts_take(const char *peers, bool is_first, bench_report *report);

#endif
