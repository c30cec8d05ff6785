/* The plugin around the engine: the template's objects, whose executables hold a cpu_code. */
#ifndef CPU_PLUGIN_H
#define CPU_PLUGIN_H

#include "launch.h"
#include "template/backend.h"

/* A digest of the sources: it differs between any two versions of them. */
extern const char cpu_build_id[];

/* compile.c */
void cpu_describe(const vyre_plugin *plugin, vyre_capabilities *out);
vyre_status cpu_compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *request,
                        vyre_bytes *blob, vyre_error *error);
vyre_status cpu_disassemble(const vyre_host *host, const void *blob, uint64_t bytes, vyre_bytes *out,
                            vyre_error *error);
vyre_status cpu_load_blob(const void *blob, uint64_t bytes, cpu_code **out, vyre_error *error);

#endif
