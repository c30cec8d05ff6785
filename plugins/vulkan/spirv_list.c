/* A module as text: a line an instruction, ids as %7, texts in quotes, all other operands as numbers. */
#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/spirv.h>

#include <string.h>

#include "plugins/vulkan/spirv.h"

/* The header has it inline; this makes it a function of this file. */
void SpvHasResultAndType(SpvOp opcode, bool *hasResult, bool *hasResultType);

/* Made from the enums of the SPIR-V headers. */
static const char *const names[] = {
#define X(name, number) [number] = #name,
#include "plugins/vulkan/spirv_names.inc"
#undef X
};

static const char *name_of(uint32_t op) {
  return op < sizeof names / sizeof *names && names[op] != NULL ? names[op] : "?";
}

/* Operand at which a text begins, or UINT32_MAX. */
static uint32_t text_at(uint32_t op) {
  switch (op) {
    case SpvOpExtension: return 0;
    case SpvOpExtInstImport:
    case SpvOpName: return 1;
    case SpvOpEntryPoint: return 2;
    default: return UINT32_MAX;
  }
}

/* Writes the text in |words|; how many of them it takes. */
static uint32_t list_text(const uint32_t *words, uint32_t count, gpu_bytes *text) {
  const char *bytes = (const char *)words;
  size_t length = strnlen(bytes, count * 4u);
  gpu_bytes_text(text, " \"");
  for (size_t i = 0; i < length; i++)
    gpu_bytes_format(text, bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '"' ? "%c" : "\\x%02x", (uint8_t)bytes[i]);
  gpu_bytes_text(text, "\"");
  return (uint32_t)(length / 4 + 1);
}

/* |words| has |count| words, the first one with opcode and count. */
static void list_instruction(const uint32_t *words, uint32_t count, gpu_bytes *text) {
  const uint32_t op = words[0] & SpvOpCodeMask, at_text = text_at(op);
  bool has_result = false, has_type = false;
  SpvHasResultAndType((SpvOp)op, &has_result, &has_type);
  uint32_t result = has_type ? 2 : 1, at = 1;
  has_result = has_result && result < count;
  if (has_result) gpu_bytes_format(text, "%%%u = ", words[result]);
  gpu_bytes_format(text, "%s", name_of(op));
  while (at < count) {
    if (has_result && at == result) at++;
    else if (at - 1 == at_text) at += list_text(words + at, count - at, text);
    else gpu_bytes_format(text, at == 1 && has_type ? " %%%u" : " %u", words[at]), at++;
  }
  gpu_bytes_text(text, "\n");
}

vyre_status spirv_list(const void *module, uint64_t bytes, gpu_bytes *text, vyre_error *error) {
  const uint32_t *words = module;
  const uint64_t count = bytes / 4;
  if (bytes % 4 != 0 || count < 5 || words[0] != SpvMagicNumber)
    return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name, "this is no SPIR-V module. Fix: compile the program again");
  gpu_bytes_format(text, "; SPIR-V %u.%u, %u ids, %llu words\n", words[1] >> 16 & 255, words[1] >> 8 & 255, words[3],
                   (unsigned long long)count);
  for (uint64_t at = 5; at < count;) {
    uint32_t length = words[at] >> SpvWordCountShift;
    if (length == 0 || length > count - at)
      return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name,
                      "word %llu of the SPIR-V module begins an instruction of %u words, %llu are left. Fix: compile the "
                      "program again",
                      (unsigned long long)at, length, (unsigned long long)(count - at));
    list_instruction(words + at, length, text);
    at += length;
  }
  return text->failed ? gpu_no_memory(error) : VYRE_OK;
}
