/* saxpy from C: the program is made by the builder, and runs on the first backend that there is.
 *
 *   cc saxpy.c $(pkg-config --cflags --libs vyre) -o saxpy && ./saxpy */
#include <stdio.h>

#include <vyre/vyre.h>

/* The same program as saxpy.vyre. Faults are collected in |faults|; a handle that failed is 0 and stays silent. */
static vyre_program *build(vyre_diagnostics *faults, vyre_error *error) {
  vyre_builder *b;
  vyre_program *program = NULL;
  if (vyre_builder_create("saxpy", faults, &b) != VYRE_OK) return NULL;
  vyre_build_workgroup(b, 256, 1, 1);
  vyre_expr a = vyre_build_param(b, "a", VYRE_TYPE_F32);
  vyre_binding x = vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F32, 0);
  vyre_binding y = vyre_build_buffer(b, VYRE_ACCESS_RW, "y", VYRE_TYPE_F32, 0);

  vyre_var index = vyre_build_declare(b, VYRE_STMT_LET, "i", vyre_build_leaf(b, VYRE_OP_GID, 0));
  vyre_expr i = vyre_build_var_value(b, index);
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, i, vyre_build_len(b, VYRE_OP_LEN, y)));
  vyre_expr xi = vyre_build_load(b, VYRE_OP_LOAD, x, i);
  vyre_expr yi = vyre_build_load(b, VYRE_OP_LOAD, y, i);
  vyre_build_store(b, y, i, vyre_build_fma(b, a, xi, yi));
  vyre_build_end(b);

  vyre_builder_finish(b, &program, error);
  vyre_builder_destroy(b);
  return program;
}

static int run(vyre_program *program, vyre_error *error) {
  const float x[] = {1, 2, 3, 4};
  float y[] = {10, 20, 30, 40};
  vyre_context *context = NULL;
  vyre_device *device = NULL;
  vyre_status status = vyre_context_create(NULL, NULL, &context, error);
  if (status == VYRE_OK) status = vyre_device_open(context, "auto", &device, error);
  if (status == VYRE_OK) {
    const vyre_arg args[] = {vyre_arg_f32("a", 2), vyre_arg_in("x", x, 4), vyre_arg_inout("y", y, 4)};
    status = vyre_run(device, program, args, 3, NULL, error);
  }
  if (device) vyre_device_close(device, VYRE_FOREVER, NULL);
  vyre_context_destroy(context);
  if (status != VYRE_OK) return 1;
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  return 0;
}

int main(void) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *faults;
  if (vyre_diagnostics_create(NULL, NULL, 0, &faults) != VYRE_OK) return 1;
  vyre_program *program = build(faults, &error);
  int result = program ? run(program, &error) : 1;
  if (result != 0) fprintf(stderr, "saxpy: %s: %s\n", error.where, error.text);
  vyre_program_release(program);
  vyre_diagnostics_destroy(faults);
  return result;
}
