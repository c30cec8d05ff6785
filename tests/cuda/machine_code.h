/* Instructions as the machine has them. */
#ifndef VYRE_TESTS_CUDA_MACHINE_CODE_H
#define VYRE_TESTS_CUDA_MACHINE_CODE_H

#include "tests/cuda/machine.h"

enum { CODE_PARTS = 8, CODE_OPERANDS = 6, CODE_NAME = 80 };

typedef enum operand_kind {
  OPERAND_NONE, OPERAND_REGISTER, OPERAND_NUMBER, OPERAND_SYMBOL, OPERAND_SPECIAL, OPERAND_LIST
} operand_kind;

enum { SYMBOL_SHARED, SYMBOL_LOCAL, SYMBOL_BLOCK, SYMBOL_POINTERS, SYMBOL_TABLE }; /* tables from there on */
enum { SPECIAL_TID, SPECIAL_CTAID = 3, SPECIAL_NCTAID = 6, SPECIAL_LANEID = 9, SPECIAL_GLOBALTIMER = 10 };

typedef struct operand {
  uint8_t kind, letter; /* of a register: r d p h q */
  bool is_address, is_negated;
  uint8_t count;        /* LIST */
  uint64_t number;      /* a register's, the number itself, which symbol or special */
  int64_t offset;       /* ADDRESS */
  struct { uint8_t kind, letter; uint64_t number; } list[4];
} operand;

typedef struct instruction {
  char part[CODE_PARTS][16]; /* "ld", "global", "nc", "b32" */
  uint8_t part_count, operand_count;
  bool guarded, guard_negated;
  uint32_t guard;
  uint32_t target;  /* of a bra: instruction */
  char label[24];
  operand operands[CODE_OPERANDS];
  const char *line; /* in the text */
} instruction;

typedef struct entry_code {
  uint32_t first, count, size[3], shared_bytes, local_bytes;
  uint32_t registers[5]; /* r d p h q */
} entry_code;

struct machine_code {
  instruction *insns;
  uint32_t insn_count, insn_room;
  entry_code entries[64];
  uint32_t entry_count;
  struct { uint32_t number; uint64_t bytes; uint32_t *words; bool is_constant; } tables[64];
  uint32_t table_count;
  uint32_t dynamic_shared; /* bytes that launches bring; 0 for none */
};

#endif
