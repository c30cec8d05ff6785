/* Writing the statements of a unit anew.
 *
 * A pass walks over the old statements and puts new ones; nothing changes until it commits. The walk is driven by
 * opt_rewrite, which asks the pass about each old statement. What stands behind a jump in its block is left out. */
#ifndef VYRE_OPT_EDIT_H
#define VYRE_OPT_EDIT_H

#include "opt/unit.h"

typedef struct opt_open_block {
  uint32_t owner; /* statement of the new program; 0 for its body */
  uint32_t last;  /* last statement so far, 0 if there is none */
  bool orelse;
  bool ended;     /* by a jump */
} opt_open_block;

typedef struct opt_edit {
  opt_unit *unit;
  VYRE_VECTOR(ir_stmt) stmts;
  VYRE_VECTOR(uint32_t) lists;
  VYRE_VECTOR(opt_open_block) open;
  opt_map copies; /* of opt_put_copy: as long as the pool, so that it is made once for all of them */
  bool changed; /* the pass says so; statements dropped behind a jump, too */
} opt_edit;

/* Where a handle is 0 or memory has run out, these do nothing, and opt_edit_commit gives false. */
void opt_edit_begin(opt_edit *e, opt_unit *u);
/* Appends a statement to the innermost open block. Its operands are set; next, body and orelse are not looked at, and
 * PRINT's arguments are in the unit's lists or, after opt_put_list, in the edit's. Gives its handle among the new ones,
 * or 0 where it was left out. */
uint32_t opt_put(opt_edit *e, ir_stmt s);
/* The following statements go into the first or second block of |owner|, the last one put; until opt_close. They are left
 * out if |owner| is 0, because that was. */
void opt_open(opt_edit *e, uint32_t owner, bool orelse);
void opt_close(opt_edit *e);
/* Whether what is put now is left out, because a jump ended the block. */
bool opt_ended(const opt_edit *e);
/* Makes the new statements those of the unit, if they changed. False if nothing changed or the unit has a fault. The
 * edit is over either way. */
bool opt_edit_commit(opt_edit *e);

/* Shorthands. */
uint32_t opt_put_let(opt_edit *e, uint32_t var, uint32_t value, uint32_t pos);
uint32_t opt_put_store(opt_edit *e, uint32_t binding, uint32_t index, uint32_t value, uint32_t pos);
uint32_t opt_put_block(opt_edit *e, uint32_t pos); /* opened; close it */

/* ---- Rewriting all statements ---------------------------------------------------------------- */

typedef enum opt_action {
  OPT_KEEP,          /* put the statement as it is now, go on inside of it */
  OPT_DROP,          /* leave it out with all inside; or the pass has put something in its place */
  OPT_SPLICE_BODY,   /* what is in its first block stands in its place ... */
  OPT_SPLICE_ORELSE  /* ... or in its second */
} opt_action;

typedef struct opt_rewriter {
  /* Before a statement: |s| is a copy whose operands may be changed; other statements may be put in front of it. */
  opt_action (*enter)(void *context, opt_edit *e, uint32_t old, ir_stmt *s);
  /* At the start of a block and behind its last statement, the block still being open; may be NULL. Not for blocks of
   * what was dropped. */
  void (*block)(void *context, opt_edit *e, uint32_t owner, bool orelse);
  void (*end)(void *context, opt_edit *e, uint32_t owner, bool orelse);
  /* Behind a statement with blocks that was kept or spliced; may be NULL. */
  void (*leave)(void *context, opt_edit *e, uint32_t old);
} opt_rewriter;

/* Runs over all statements and commits; true if the unit has changed. OPT_KEEP with other operands counts as a change
 * of itself; all else the pass notes in e->changed, except for drops and splices. */
bool opt_rewrite(opt_unit *u, const opt_rewriter *r, void *context);

/* Replaces the operands of one statement, or of a copy of it, by what the map gives; true if one is another now. */
bool opt_map_operands(opt_map *m, ir_stmt *s);
/* Replaces the operands of every statement by what the map gives for them. True if that changed anything. */
bool opt_rewrite_operands(opt_unit *u, opt_map *m);

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Puts a copy of the old statements from |first| to the end of its block, with fresh variables for those that are
 * declared inside. |replace| stands for variable |var| (UINT32_MAX: for none), such as a loop's in one of its turns. */
void opt_put_copy(opt_edit *e, uint32_t first, uint32_t var, uint32_t replace);
/* The same, where |replace| is a sum with a literal: of integers that are computed from it by sums and by products with
 * literals, the literal is added last, so that the rest is what another copy computes as well. */
void opt_put_turn(opt_edit *e, uint32_t first, uint32_t var, uint32_t replace);

#endif
