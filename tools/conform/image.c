/* The parts of ELF that a plugin's shape shows in: segments, the dynamic section, symbols, and the arrays of functions
 * that run by themselves. */
#include "image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 30 };

/* |bytes| bytes at |offset| of the file, if they are all there. */
static const void *at(const image *im, uint64_t offset, uint64_t bytes) {
  return offset <= im->size && bytes <= im->size - offset ? im->bytes + offset : NULL;
}

/* The same by the address that they have in memory. */
static const void *at_address(const image *im, uint64_t address, uint64_t bytes) {
  for (uint64_t i = 0; i < im->segments.count; i++) {
    const Elf64_Phdr *p = image_segment(im, i);
    if (p->p_type != PT_LOAD || address < p->p_vaddr || address - p->p_vaddr > p->p_filesz) continue;
    uint64_t inside = address - p->p_vaddr;
    if (bytes <= p->p_filesz - inside && inside <= UINT64_MAX - p->p_offset) return at(im, p->p_offset + inside, bytes);
  }
  return NULL;
}

static image_table table(const image *im, uint64_t offset, uint64_t bytes, size_t record) {
  const uint8_t *first = at(im, offset, bytes);
  if (first == NULL || (uintptr_t)first % 8 != 0) return (image_table){0};
  return (image_table){first, bytes / record};
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool read_file(kit *k, image *im) {
  const char *path = k->settings->plugin;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (fd < 0) return kit_fail(k, "it can't be opened: %s", strerror(errno));
  bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && info.st_size <= MOST_BYTES;
  size_t size = is_file ? (size_t)info.st_size : 0, got = 0;
  im->bytes = is_file ? malloc(size) : NULL;
  while (im->bytes != NULL && got < size) {
    ssize_t part = read(fd, im->bytes + got, size - got);
    if (part <= 0) break;
    got += (size_t)part;
  }
  close(fd);
  im->size = got;
  return (is_file && got == size) || kit_fail(k, "it is no regular file of at most 1 GiB that can be read (VBP-2)");
}

/* The machine that the kit was built for, from its own header in memory. */
static uint16_t own_machine(void) {
  Dl_info info;
  if (dladdr((const void *)(uintptr_t)image_read, &info) == 0) return EM_NONE;
  return ((const Elf64_Ehdr *)info.dli_fbase)->e_machine;
}

static bool read_header(kit *k, image *im) {
  const Elf64_Ehdr *h = at(im, 0, sizeof *h);
  if (h == NULL || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
    return kit_fail(k, "it is no ELF file, and a plugin is a shared object (VBP-2)");
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_DYN)
    return kit_fail(k, "it is no shared object of 64 bits, little endian (VBP-2)");
  if (h->e_machine != own_machine())
    return kit_fail(k, "it is for machine %u, and this one is %u (VBP-2)", h->e_machine, own_machine());
  im->header = h;
  im->segments = table(im, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
  if (h->e_phentsize != sizeof(Elf64_Phdr) || im->segments.at == NULL)
    return kit_fail(k, "its program headers are not in the file: it is cut off (VBP-2)");
  for (uint64_t i = 0; i < im->segments.count; i++) {
    const Elf64_Phdr *p = image_segment(im, i);
    if (at(im, p->p_offset, p->p_filesz) == NULL)
      return kit_fail(k, "segment %llu is not in the file: it is cut off (VBP-2)", (unsigned long long)i);
    if (p->p_type == PT_DYNAMIC) im->dynamic = table(im, p->p_offset, p->p_filesz, sizeof(Elf64_Dyn));
  }
  return im->dynamic.at != NULL || kit_fail(k, "it has no dynamic section (VBP-2)");
}

static const Elf64_Shdr *section(const image *im, uint64_t index) {
  uint64_t offset = im->header->e_shoff + index * sizeof(Elf64_Shdr);
  if (index >= im->header->e_shnum || im->header->e_shentsize != sizeof(Elf64_Shdr) || offset % 8 != 0) return NULL;
  return at(im, offset, sizeof(Elf64_Shdr));
}

/* A symbol table and its names. */
static void take_symbols(const image *im, const Elf64_Shdr *s, image_table *out, const char **text, uint64_t *bytes) {
  const Elf64_Shdr *names = section(im, s->sh_link);
  if (names == NULL || s->sh_entsize != sizeof(Elf64_Sym)) return;
  *text = at(im, names->sh_offset, names->sh_size);
  *bytes = *text != NULL ? names->sh_size : 0;
  *out = table(im, s->sh_offset, s->sh_size, sizeof(Elf64_Sym));
}

static bool read_sections(kit *k, image *im) {
  for (uint64_t i = 0; i < im->header->e_shnum; i++) {
    const Elf64_Shdr *s = section(im, i);
    if (s == NULL) return kit_fail(k, "section %llu is not in the file: it is cut off (VBP-2)", (unsigned long long)i);
    if (s->sh_type == SHT_DYNSYM) take_symbols(im, s, &im->imports, &im->dynamic_text, &im->dynamic_text_bytes);
    if (s->sh_type == SHT_SYMTAB) take_symbols(im, s, &im->symbols, &im->symbol_text, &im->symbol_text_bytes);
  }
  return im->imports.at != NULL || kit_fail(k, "it has no section with its dynamic symbols, so nobody can tell what it "
                                               "exports. Fix: keep the section headers");
}

bool image_read(kit *k, image *out) {
  *out = (image){0};
  return read_file(k, out) && read_header(k, out) && read_sections(k, out);
}

void image_free(image *im) {
  free(im->bytes);
  *im = (image){0};
}

/* ---- Asking ---------------------------------------------------------------------------------- */

const Elf64_Phdr *image_segment(const image *im, uint64_t index) {
  return (const Elf64_Phdr *)(const void *)(im->segments.at + index * sizeof(Elf64_Phdr));
}

const Elf64_Dyn *image_dynamic(const image *im, uint64_t index) {
  return (const Elf64_Dyn *)(const void *)(im->dynamic.at + index * sizeof(Elf64_Dyn));
}

const Elf64_Sym *image_import(const image *im, uint64_t index) {
  return (const Elf64_Sym *)(const void *)(im->imports.at + index * sizeof(Elf64_Sym));
}

bool image_find(const image *im, int64_t tag, uint64_t *value) {
  for (uint64_t i = 0; i < im->dynamic.count; i++) {
    const Elf64_Dyn *d = image_dynamic(im, i);
    if (d->d_tag == DT_NULL) return false;
    if (d->d_tag != tag) continue;
    *value = d->d_un.d_val;
    return true;
  }
  return false;
}

static const char *text_at(const char *text, uint64_t bytes, uint64_t offset) {
  return offset < bytes && memchr(text + offset, '\0', bytes - offset) != NULL ? text + offset : "";
}

const char *image_text(const image *im, uint64_t offset) {
  return text_at(im->dynamic_text, im->dynamic_text_bytes, offset);
}

/* The address that a relocation puts at |place|. */
static bool relocated(const image *im, uint64_t place, uint64_t *address) {
  uint64_t rela, bytes;
  if (!image_find(im, DT_RELA, &rela) || !image_find(im, DT_RELASZ, &bytes)) return false;
  const Elf64_Rela *r = at_address(im, rela, bytes);
  for (uint64_t i = 0; r != NULL && (uintptr_t)r % 8 == 0 && i < bytes / sizeof *r; i++) {
    if (r[i].r_offset != place) continue;
    uint64_t symbol = ELF64_R_SYM(r[i].r_info);
    *address = (uint64_t)r[i].r_addend + (symbol < im->imports.count ? image_import(im, symbol)->st_value : 0);
    return true;
  }
  return false;
}

bool image_array_entry(const image *im, int64_t tag, int64_t size_tag, uint64_t index, uint64_t *address) {
  uint64_t array, bytes;
  if (!image_find(im, tag, &array) || !image_find(im, size_tag, &bytes) || index >= bytes / 8) return false;
  const uint8_t *entry = at_address(im, array + 8 * index, 8);
  *address = 0;
  if (entry != NULL) memcpy(address, entry, 8); /* packed relocations leave the address here */
  relocated(im, array + 8 * index, address);
  return true;
}

const char *image_function(const image *im, uint64_t address) {
  for (uint64_t i = 0; i < im->symbols.count; i++) {
    const Elf64_Sym *s = (const Elf64_Sym *)(const void *)(im->symbols.at + i * sizeof *s);
    if (s->st_value == address && s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
      return text_at(im->symbol_text, im->symbol_text_bytes, s->st_name);
  }
  return "";
}
