/* A launch of the oracle's engine without a plugin around it, so that it can be asked how often each instruction was
 * run. */
#include "kernels/execute.h"

#include <stdlib.h>
#include <string.h>

#include "../plugins/cpu_ref/cpu_limits.h"
#include "../plugins/cpu_ref/launch.h"
#include "base/error.h"
#include "opt/unit.h"

static vyre_status differs(const kernel_data *data, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_INVALID_PROGRAM, data->kernel->name,
                   "The program has not the buffers and parameters of its kernel. Fix: keep them, in their order.");
}

/* Binds the kernel's arrays and parameters to slots and numbers of |program|. */
static vyre_status bind(const kernel_data *data, const vyre_program *program, cpu_bound *bound, uint64_t *params,
                        vyre_error *error) {
  vyre_buffer_info buffer;
  vyre_param_info param;
  for (uint32_t i = 0; i < data->array_count; i++) {
    const kernel_array *array = &data->arrays[i];
    if (!vyre_program_slot(program, i, &buffer) || strcmp(buffer.name, array->name) != 0 ||
        buffer.element != array->type)
      return differs(data, error);
    bound[i] = (cpu_bound){array->data, array->count};
  }
  for (uint32_t i = 0; i < data->param_count; i++) {
    if (!vyre_program_param(program, i, &param) || strcmp(param.name, data->params[i].name) != 0)
      return differs(data, error);
    params[i] = data->params[i].bits;
  }
  bool more = vyre_program_slot(program, data->array_count, &buffer) ||
              vyre_program_param(program, data->param_count, &param);
  return more ? differs(data, error) : VYRE_OK;
}

/* ---- Counting ---- */

/* What one evaluation of an expression costs besides its operands. */
static uint64_t cost_of_expr(const opt_unit *u, uint32_t e) {
  uint64_t cost = opt_meta_of(u, e)->cost;
  for (uint32_t i = 0; i < ir_op_arity[opt_at(u, e)->op]; i++) cost -= opt_meta_of(u, opt_at(u, e)->arg[i])->cost;
  return cost;
}

static uint64_t cost_of_stmt(const opt_unit *u, const ir_stmt *s) {
  if (s->op != VYRE_STMT_STORE) return u->costs->stmt[s->op];
  uint8_t access = u->program->buffers.data[s->arg[4]].access;
  bool near = access == VYRE_ACCESS_SHARED || access == VYRE_ACCESS_LOCAL;
  return near ? u->costs->shared_access : u->costs->stmt[s->op];
}

/* Jumps, moves and what a loop does before its first turn belong to a statement and are not counted as it. */
static bool stands_for_statement(const cpu_insn *insn) {
  return insn->kind != CPU_JUMP && insn->kind != CPU_MOVE && insn->kind != CPU_FOR;
}

static vyre_status add_up(const cpu_code *code, const uint64_t *executed, kernel_tally *tally, vyre_error *error) {
  const vyre_program *p = code->program;
  opt_unit u;
  bool good = opt_unit_create(&u, p, &opt_default_costs);
  for (uint32_t i = 0; good && i < code->insns.count; i++) {
    uint32_t e = code->computes.data[i];
    const ir_stmt *s = ir_stmt_at(p, code->insns.data[i].stmt);
    tally->instructions += executed[i];
    if (e != 0) {
      tally->ops[ir_expr_at(p, e)->op] += executed[i];
      tally->cost += executed[i] * cost_of_expr(&u, e);
    } else if (stands_for_statement(&code->insns.data[i])) {
      tally->stmts[s->op] += executed[i];
      tally->cost += executed[i] * cost_of_stmt(&u, s);
    }
  }
  opt_unit_free(&u);
  return good ? VYRE_OK : vyre_fail_memory(error, p->info.name);
}

/* ---- The launch ---- */

vyre_status kernel_execute(const kernel_data *data, vyre_program *program, kernel_tally *tally, vyre_error *error) {
  cpu_bound bound[KERNEL_MAX_ARRAYS];
  uint64_t params[KERNEL_MAX_PARAMS];
  const cpu_options options = {0};
  cpu_code *code;
  cpu_report report;
  if (tally != NULL) *tally = (kernel_tally){0};
  vyre_status status = bind(data, program, bound, params, error);
  if (status == VYRE_OK) status = cpu_code_create(program, &options, &code, error);
  if (status != VYRE_OK) return status;
  cpu_launch launch = {.code = code, .params = params, .bound = bound, .memory_limit = CPU_MEMORY_LIMIT};
  memcpy(launch.grid, data->kernel->grid, sizeof launch.grid);
  if (tally != NULL) launch.executed = calloc(code->insns.count, sizeof *launch.executed);
  if (tally != NULL && launch.executed == NULL) status = vyre_fail_memory(error, data->kernel->name);
  if (status == VYRE_OK) status = cpu_launch_run(&launch, &report, error);
  if (status == VYRE_OK && tally != NULL) status = add_up(code, launch.executed, tally, error);
  free(launch.executed);
  cpu_code_destroy(code);
  return status;
}

uint64_t kernel_operators(const kernel_tally *tally) {
  uint64_t sum = 0;
  for (int op = 0; op < VYRE_OP_COUNT; op++) sum += ir_op_arity[op] > 0 ? tally->ops[op] : 0;
  return sum;
}

uint64_t kernel_loads(const kernel_tally *tally) {
  return tally->ops[VYRE_OP_LOAD] + tally->ops[VYRE_OP_GRID_UNIFORM_LOAD] + tally->ops[VYRE_OP_WORKGROUP_UNIFORM_LOAD];
}

uint64_t kernel_stores(const kernel_tally *tally) {
  return tally->stmts[VYRE_STMT_STORE];
}

uint64_t kernel_divisions(const kernel_tally *tally) {
  return tally->ops[VYRE_OP_DIV] + tally->ops[VYRE_OP_MOD];
}
