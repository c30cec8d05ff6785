/* Ifs, loops and jumps of the kernel are SPIR-V's structured ones. Padding invocations take part where lanes meet and skip
 * the rest, so that they do nothing and never loop alone. */
#include "plugins/vulkan/spirv_emit.h"

static spirv_frame *open_frame(spirv_emitter *e) {
  if (e->depth == SPIRV_MAX_DEPTH) {
    spirv_fail(e, VYRE_ERR_LIMIT,
               "ifs and loops are nested %u deep and more, SPIR-V takes at most %d. Fix: nest less, or choose another "
               "backend",
               e->depth + 1, SPIRV_MAX_DEPTH);
    return &e->frames[0];
  }
  spirv_frame *frame = &e->frames[e->depth++];
  *frame = (spirv_frame){ .merge = spirv_id(&e->m), .loop = e->loop };
  return frame;
}

static spirv_frame *top(spirv_emitter *e) { return &e->frames[e->depth - 1]; }

static uint32_t condition_of(spirv_emitter *e, uint32_t value, bool is_followed) {
  uint32_t condition = spirv_use(e, value);
  if (e->real == 0) return condition;
  if (is_followed) return spirv_followed(e, condition);
  return spirv_value(&e->m, SpvOpLogicalAnd, T_BOOL, condition, e->real);
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/* An if of a chain: its arm leaves the loop of one turn, and its else goes on in it. */
static void begin_link(spirv_emitter *e, const vyre_kernel_insn *in, uint32_t number) {
  spirv_module *m = &e->m;
  uint32_t condition = condition_of(e, in->arg[0], e->meets[number] != 0), inside = spirv_id(m);
  spirv_frame *frame = top(e);
  frame->other = spirv_id(m);
  spirv_do(m, SpvOpSelectionMerge, frame->other, SpvSelectionControlMaskNone);
  spirv_branch_if(m, condition, inside, frame->other);
  spirv_label(m, inside);
}

static void begin_turn(spirv_emitter *e) {
  spirv_module *m = &e->m;
  spirv_frame *frame = top(e);
  uint32_t body = spirv_id(m);
  frame->header = spirv_id(m);
  frame->on = spirv_id(m);
  spirv_branch(m, frame->header);
  spirv_label(m, frame->header);
  spirv_do(m, SpvOpLoopMerge, frame->merge, frame->on, SpvLoopControlMaskNone);
  spirv_branch(m, body);
  spirv_label(m, body);
}

static void end_turn(spirv_emitter *e) {
  spirv_module *m = &e->m;
  const spirv_frame *frame = top(e);
  spirv_branch(m, frame->merge);
  spirv_label(m, frame->on);
  spirv_branch(m, frame->header);
  spirv_label(m, frame->merge);
  if (frame->skip != 0) spirv_join(m, frame->skip);
}

static void begin_chain(spirv_emitter *e, bool is_cut) {
  spirv_frame *frame = open_frame(e);
  frame->is_chain = true;
  frame->is_cut = is_cut;
  frame->carried = e->carried_next;
  begin_turn(e);
}

static void say_done(spirv_emitter *e, bool is_done) {
  if (e->m.block != 0) spirv_do(&e->m, SpvOpStore, e->is_done, spirv_constant(&e->m, T_BOOL, is_done));
}

/* Ends the loop and begins another for who has been in no arm, in front of the if |number|. */
static void cut_chain(spirv_emitter *e, uint32_t number) {
  spirv_module *m = &e->m;
  spirv_frame *frame = top(e);
  say_done(e, false);
  end_turn(e);
  uint32_t is_done = spirv_value(m, SpvOpLoad, T_BOOL, e->is_done);
  frame->skip = spirv_when(m, spirv_value(m, SpvOpLogicalNot, T_BOOL, is_done));
  frame->merge = spirv_id(m);
  begin_turn(e);
  for (uint32_t i = frame->carried; i < e->carried_next; i++) {
    const spirv_carried *c = spirv_carried_at(e, i);
    if (c->last < number) continue;
    e->ids[c->value] = spirv_value(m, SpvOpLoad, spirv_type_of(spirv_value_type(e, c->value)), c->variable);
  }
}

static void leave_arm(spirv_emitter *e) {
  spirv_frame *frame = top(e);
  if (frame->is_cut) say_done(e, true);
  spirv_branch(&e->m, frame->merge);
  if (frame->other != 0) spirv_label(&e->m, frame->other);
  frame->other = 0;
}

/* The last of its ifs ends first, then all others, without anything between. */
static void end_link(spirv_emitter *e) {
  spirv_frame *frame = top(e);
  if (frame->other != 0) leave_arm(e);
  if (frame->links-- != 0) return;
  end_turn(e);
  e->depth--;
}

/* ---- Ifs ------------------------------------------------------------------------------------- */

static void begin_if(spirv_emitter *e, const vyre_kernel_insn *in, uint32_t number) {
  spirv_module *m = &e->m;
  const uint8_t chain = e->chains[number];
  if (chain == SPIRV_CHAIN_HEAD || chain == SPIRV_CHAIN_LONG_HEAD) begin_chain(e, chain == SPIRV_CHAIN_LONG_HEAD);
  if (chain == SPIRV_CHAIN_LINK || chain == SPIRV_CHAIN_CUT) top(e)->links++;
  if (chain == SPIRV_CHAIN_CUT) cut_chain(e, number);
  if (chain != SPIRV_CHAIN_NONE) return begin_link(e, in, number);
  uint32_t condition = condition_of(e, in->arg[0], e->meets[number] != 0);
  spirv_frame *frame = open_frame(e);
  uint32_t inside = spirv_id(m);
  bool has_else = gpu_insn(e->kernel, in->arg[1])->op == VYRE_KERNEL_ELSE;
  frame->other = has_else ? spirv_id(m) : frame->merge;
  spirv_do(m, SpvOpSelectionMerge, frame->merge, SpvSelectionControlMaskNone);
  spirv_branch_if(m, condition, inside, frame->other);
  spirv_label(m, inside);
}

/* ---- Loops ----------------------------------------------------------------------------------- */

static void begin_loop(spirv_emitter *e, uint32_t number) {
  spirv_module *m = &e->m;
  spirv_frame *frame = open_frame(e);
  if (e->real != 0 && e->meets[number] == 0) frame->outer = spirv_when(m, e->real);
  frame->header = spirv_id(m);
  frame->other = spirv_id(m);
  e->loop = e->depth - 1;
  uint32_t body = spirv_id(m);
  spirv_branch(m, frame->header);
  spirv_label(m, frame->header);
  spirv_do(m, SpvOpLoopMerge, frame->merge, frame->other, SpvLoopControlMaskNone);
  spirv_branch(m, body);
  spirv_label(m, body);
}

/* Where no jump leads to it, the continuing part ends the body, and what SPIR-V calls so is empty: drivers know loops in
 * that form best, and unroll them. */
static void continuing(spirv_emitter *e) {
  spirv_frame *frame = top(e);
  frame->is_joined = frame->is_continued || e->m.block == 0;
  if (frame->is_joined) spirv_join(&e->m, frame->other);
}

static void end_loop(spirv_emitter *e, const vyre_kernel_insn *in) {
  spirv_module *m = &e->m;
  spirv_frame *frame = top(e);
  const uint32_t back = frame->is_joined ? frame->header : frame->other;
  if (in->arg[0] == 0) {
    spirv_branch(m, back);
  } else {
    uint32_t condition = spirv_use(e, in->arg[0]);
    if (e->real != 0 && frame->outer == 0) condition = spirv_followed(e, condition);
    spirv_branch_if(m, condition, frame->merge, back);
  }
  if (!frame->is_joined) {
    spirv_label(m, frame->other);
    spirv_branch(m, frame->header);
  }
  spirv_label(m, frame->merge);
  if (frame->outer != 0) spirv_join(m, frame->outer);
  e->loop = frame->loop;
  e->depth--;
}

void spirv_flow(spirv_emitter *e, const vyre_kernel_insn *in, uint32_t number) {
  spirv_module *m = &e->m;
  switch (in->op) {
    case VYRE_KERNEL_IF: begin_if(e, in, number); break;
    case VYRE_KERNEL_ELSE:
      if (top(e)->is_chain) {
        leave_arm(e);
        break;
      }
      spirv_branch(m, top(e)->merge);
      spirv_label(m, top(e)->other);
      break;
    case VYRE_KERNEL_END_IF:
      if (top(e)->is_chain) {
        end_link(e);
        break;
      }
      spirv_join(m, top(e)->merge);
      e->depth--;
      break;
    case VYRE_KERNEL_LOOP: begin_loop(e, number); break;
    case VYRE_KERNEL_CONTINUING: continuing(e); break;
    case VYRE_KERNEL_END_LOOP: end_loop(e, in); break;
    case VYRE_KERNEL_BREAK: spirv_branch(m, e->frames[e->loop].merge); break;
    case VYRE_KERNEL_CONTINUE:
      e->frames[e->loop].is_continued = true;
      spirv_branch(m, e->frames[e->loop].other);
      break;
    case VYRE_KERNEL_RETURN:
      spirv_put_words(&m->part[PART_CODE], SpvOpReturn, NULL, 0);
      m->block = 0;
      break;
    default: break;
  }
}
