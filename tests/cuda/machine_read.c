/* Reading a module: one instruction, directive or label a line, as the emitter writes them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/machine_code.h"

typedef struct reader {
  machine_code *code;
  const char *at;
  char *why;
  uint32_t room;
  bool failed;
  struct { char name[24]; uint32_t insn; } *labels;
  uint32_t label_count, label_room;
} reader;

static void fail(reader *r, const char *what) {
  if (!r->failed) snprintf(r->why, r->room, "%s: %.60s", what, r->at);
  r->failed = true;
}

static void skip(reader *r, const char *set) {
  while (*r->at != 0 && strchr(set, *r->at) != NULL) r->at++;
}

static bool take(reader *r, const char *word) {
  size_t length = strlen(word);
  if (strncmp(r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

static uint64_t number(reader *r) {
  char *end;
  uint64_t value;
  if (r->at[0] == '0' && (r->at[1] == 'f' || r->at[1] == 'd')) value = strtoull(r->at + 2, &end, 16);
  else if (r->at[0] == '-') value = (uint64_t)strtoll(r->at, &end, 10);
  else value = strtoull(r->at, &end, 0);
  r->at = end;
  return value;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static bool is_register(const char *s) {
  return strchr("rdphq", *s) != NULL && *s != 0 && isdigit((unsigned char)s[1]);
}

static uint64_t special(reader *r) {
  static const char *const names[] = { "tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x",
                                       "nctaid.y", "nctaid.z", "laneid", "globaltimer" };
  for (uint64_t i = 0; i < sizeof names / sizeof *names; i++)
    if (take(r, names[i])) return i;
  fail(r, "an unknown special register");
  return 0;
}

static uint64_t symbol(reader *r) {
  static const char *const names[] = { "shared_memory", "local_memory", "block", "pointers" };
  for (uint64_t i = 0; i < sizeof names / sizeof *names; i++)
    if (take(r, names[i])) return i;
  if (!take(r, "table_")) fail(r, "an unknown name");
  return SYMBOL_TABLE + number(r);
}

static void simple(reader *r, uint8_t *kind, uint8_t *letter, uint64_t *value) {
  if (is_register(r->at)) {
    *kind = OPERAND_REGISTER;
    *letter = (uint8_t)*r->at++;
    *value = strtoull(r->at, (char **)&r->at, 10);
  } else if (isdigit((unsigned char)*r->at) || *r->at == '-') {
    *kind = OPERAND_NUMBER;
    *value = number(r);
  } else if (take(r, "%")) {
    *kind = OPERAND_SPECIAL;
    *value = special(r);
  } else {
    *kind = OPERAND_SYMBOL;
    *value = symbol(r);
  }
}

static void read_operand(reader *r, operand *o) {
  o->is_negated = take(r, "!");
  if (take(r, "{")) {
    o->kind = OPERAND_LIST;
    do {
      skip(r, " ,");
      simple(r, &o->list[o->count].kind, &o->list[o->count].letter, &o->list[o->count].number);
      o->count++;
    } while (*r->at == ',' && o->count < 4);
    if (!take(r, "}")) fail(r, "a list that does not end");
    return;
  }
  o->is_address = take(r, "[");
  simple(r, &o->kind, &o->letter, &o->number);
  if (!o->is_address) return;
  if (take(r, "+")) o->offset = (int64_t)number(r);
  if (!take(r, "]")) fail(r, "an address that does not end");
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static instruction *new_insn(reader *r) {
  machine_code *c = r->code;
  if (c->insn_count == c->insn_room) {
    uint32_t room = c->insn_room * 2 + 256;
    instruction *insns = realloc(c->insns, room * sizeof *insns);
    if (insns == NULL) abort();
    c->insns = insns;
    c->insn_room = room;
  }
  instruction *in = &c->insns[c->insn_count++];
  memset(in, 0, sizeof *in);
  return in;
}

static void read_parts(reader *r, instruction *in) {
  do {
    uint32_t used = 0;
    if (in->part_count == CODE_PARTS) fail(r, "too many parts");
    while ((isalnum((unsigned char)*r->at) || *r->at == '_') && used < 15 && !r->failed)
      in->part[in->part_count][used++] = *r->at++;
    in->part_count += !r->failed;
  } while (take(r, ".") && !r->failed);
}

static void read_insn(reader *r) {
  instruction *in = new_insn(r);
  in->line = r->at;
  if (take(r, "@")) {
    in->guarded = true;
    in->guard_negated = take(r, "!");
    if (!take(r, "p")) fail(r, "a guard that is no predicate");
    in->guard = (uint32_t)number(r);
    skip(r, " ");
  }
  read_parts(r, in);
  skip(r, " ");
  if (strcmp(in->part[0], "bra") == 0) {
    for (uint32_t i = 0; i < 23 && isalnum((unsigned char)*r->at); i++) in->label[i] = *r->at++;
  } else {
    while (*r->at != ';' && !r->failed && in->operand_count < CODE_OPERANDS) {
      read_operand(r, &in->operands[in->operand_count++]);
      skip(r, " ,|");
    }
  }
  if (!take(r, ";")) fail(r, "an instruction that does not end");
}

static bool read_label(reader *r) {
  const char *end = strchr(r->at, ':'), *line = strchr(r->at, '\n');
  if (end == NULL || end > line || end - r->at > 22 || !isupper((unsigned char)*r->at)) return false;
  if (r->label_count == r->label_room) {
    r->label_room = r->label_room * 2 + 64;
    r->labels = realloc(r->labels, r->label_room * sizeof *r->labels);
    if (r->labels == NULL) abort();
  }
  memset(r->labels[r->label_count].name, 0, sizeof r->labels->name);
  memcpy(r->labels[r->label_count].name, r->at, (size_t)(end - r->at));
  r->labels[r->label_count++].insn = r->code->insn_count;
  r->at = end + 1;
  return true;
}

static void read_table(reader *r, bool is_constant) {
  machine_code *c = r->code;
  const char *name = strstr(r->at, "table_"), *begin = strchr(r->at, '{');
  uint64_t words = strtoull(strchr(name, '[') + 1, NULL, 10);
  r->at = begin + 1;
  uint32_t *data = aligned_alloc(16, (words * 4 + 15) / 16 * 16);
  if (data == NULL || c->table_count == 64) abort();
  for (uint64_t i = 0; i < words; i++) {
    skip(r, ", \n");
    data[i] = *r->at == '}' ? 0 : (uint32_t)number(r);
  }
  c->tables[c->table_count].number = (uint32_t)strtoul(name + 6, NULL, 10);
  c->tables[c->table_count].bytes = words * 4;
  c->tables[c->table_count].is_constant = is_constant;
  c->tables[c->table_count++].words = data;
}

/* The body of an entry point, from its name on. */
static void read_entry(reader *r) {
  machine_code *c = r->code;
  if (c->entry_count == 64) abort();
  entry_code *e = &c->entries[c->entry_count++];
  r->label_count = 0;
  e->first = c->insn_count;
  e->shared_bytes = c->dynamic_shared;
  r->at = strchr(r->at, '\n') + 1;
  if (sscanf(r->at, ".reqntid %u, %u, %u", &e->size[0], &e->size[1], &e->size[2]) != 3) fail(r, "no reqntid");
  r->at = strstr(r->at, "{\n") + 2;
  while (!r->failed) {
    skip(r, " \n");
    unsigned count;
    char letter;
    if (take(r, "}")) break;
    if (sscanf(r->at, ".reg .%*[a-z0-9] %c<%u", &letter, &count) == 2)
      e->registers[strcspn("rdphq", (char[]){ letter, 0 })] = count;
    else if (sscanf(r->at, ".shared .align 16 .b8 shared_memory[%u]", &count) == 1) e->shared_bytes = count;
    else if (sscanf(r->at, ".local .align 16 .b8 local_memory[%u]", &count) == 1) e->local_bytes = count;
    else if (read_label(r)) continue;
    else {
      read_insn(r);
      continue;
    }
    r->at = strchr(r->at, '\n');
  }
  e->count = c->insn_count - e->first;
  for (uint32_t i = e->first; i < c->insn_count; i++) {
    instruction *in = &c->insns[i];
    if (in->label[0] == 0) continue;
    in->target = UINT32_MAX;
    for (uint32_t k = 0; k < r->label_count; k++)
      if (strcmp(in->label, r->labels[k].name) == 0) in->target = r->labels[k].insn;
    if (in->target == UINT32_MAX) fail(r, in->label);
  }
}

machine_code *machine_read(const char *text, char *why, uint32_t room) {
  reader r = { .code = calloc(1, sizeof *r.code), .at = text, .why = why, .room = room };
  if (r.code == NULL) abort();
  while (!r.failed && *r.at != 0) {
    if (strncmp(r.at, ".const", 6) == 0) read_table(&r, true);
    else if (strncmp(r.at, ".global", 7) == 0) read_table(&r, false);
    else if (strncmp(r.at, ".extern .shared", 15) == 0) r.code->dynamic_shared = 227 * 1024;
    else if (strncmp(r.at, ".visible .entry", 15) == 0) read_entry(&r);
    const char *end = strchr(r.at, '\n');
    r.at = end != NULL ? end + 1 : r.at + strlen(r.at);
  }
  free(r.labels);
  if (!r.failed) return r.code;
  machine_free(r.code);
  return NULL;
}

void machine_free(machine_code *code) {
  if (code == NULL) return;
  for (uint32_t i = 0; i < code->table_count; i++) free(code->tables[i].words);
  free(code->insns);
  free(code);
}
