/* A shared object as a file: what the dynamic linker will do with it, read without running anything of it. Every offset
 * and count in the file is checked before it is followed. */
#ifndef VYRE_TOOLS_CONFORM_IMAGE_H
#define VYRE_TOOLS_CONFORM_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit.h"

typedef struct image_table {
  const uint8_t *at; /* NULL if there is none */
  uint64_t count;
} image_table;

typedef struct image {
  uint8_t *bytes;
  size_t size;
  const Elf64_Ehdr *header;
  image_table segments;                   /* Elf64_Phdr */
  image_table dynamic;                    /* Elf64_Dyn, the last one DT_NULL */
  image_table imports;                    /* Elf64_Sym of the dynamic symbol table: exported and imported */
  image_table symbols;                    /* Elf64_Sym of the full table; none if the file was stripped */
  const char *dynamic_text, *symbol_text; /* their names */
  uint64_t dynamic_text_bytes, symbol_text_bytes;
} image;

/* Reads the plugin's file. False with a kit_fail that says what is wrong with it. */
bool image_read(kit *k, image *out);
void image_free(image *im);

const Elf64_Phdr *image_segment(const image *im, uint64_t index);
const Elf64_Dyn *image_dynamic(const image *im, uint64_t index);
/* Value of the first dynamic entry |tag|; false if there is none. */
bool image_find(const image *im, int64_t tag, uint64_t *value);
/* A text of the dynamic string table, "" for one outside. */
const char *image_text(const image *im, uint64_t offset);
/* Symbol |index| of the dynamic table. */
const Elf64_Sym *image_import(const image *im, uint64_t index);
/* Functions that run at load (DT_INIT_ARRAY and the like): the address of entry |index|, false beyond the last. */
bool image_array_entry(const image *im, int64_t tag, int64_t size_tag, uint64_t index, uint64_t *address);
/* Name of the function at an address; "" if the file does not tell. */
const char *image_function(const image *im, uint64_t address);

#endif
