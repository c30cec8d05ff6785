/* A look at a file before dlopen sees it: the dynamic linker maps what the headers say, and dies by a signal where
 * the file is shorter than they claim. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/objects.h"
#include "base/env.h"
#include "base/error.h"

enum { MAX_SEGMENTS = 1024 };

static bool read_at(int fd, void *out, size_t bytes, uint64_t offset) {
  return pread(fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool is_inside(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

/* The machine that this library was built for, from its own header in memory. */
static uint16_t own_machine(void) {
  Dl_info info;
  if (dladdr((const void *)(uintptr_t)vyre_elf_check, &info) == 0) return EM_NONE;
  return ((const Elf64_Ehdr *)info.dli_fbase)->e_machine;
}

static vyre_status truncated(const char *path, uint64_t size, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path,
                   "The file has %llu bytes, fewer than its own headers say: it is truncated (VBP-2). Fix: install it "
                   "again.",
                   (unsigned long long)size);
}

static vyre_status not_shared(const char *path, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path,
                   "The file is not a shared object (VBP-2). Fix: put a plugin there, or remove the file.");
}

static vyre_status check_header(const char *path, const Elf64_Ehdr *header, vyre_error *error) {
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return not_shared(path, error);
  uint16_t machine = own_machine();
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != machine)
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path,
                     "The file is for another architecture: ELF class %d and machine %d, where this process has class "
                     "%d and machine %d (VBP-2). Fix: install the plugin for this machine.",
                     header->e_ident[EI_CLASS], header->e_machine, ELFCLASS64, machine);
  if (header->e_type != ET_DYN || header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > MAX_SEGMENTS)
    return not_shared(path, error);
  return VYRE_OK;
}

static vyre_status check_segments(const char *path, int fd, const Elf64_Ehdr *header, uint64_t size,
                                  vyre_error *error) {
  uint64_t sections = (uint64_t)header->e_shnum * header->e_shentsize;
  if (!is_inside(header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr), size) ||
      !is_inside(header->e_shoff, sections, size))
    return truncated(path, size, error);
  for (uint32_t i = 0; i < header->e_phnum; i++) {
    Elf64_Phdr segment;
    if (!read_at(fd, &segment, sizeof segment, header->e_phoff + i * sizeof segment) ||
        !is_inside(segment.p_offset, segment.p_filesz, size))
      return truncated(path, size, error);
  }
  return VYRE_OK;
}

/* A process with more rights than its user opens only what nobody else can have put there. */
static bool is_trusted(const struct stat *info) {
  if (!vyre_env_is_ignored()) return true;
  return (info->st_uid == 0 || info->st_uid == geteuid()) && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static vyre_status check_open_file(const char *path, int fd, vyre_error *error) {
  struct stat info;
  Elf64_Ehdr header;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path,
                     "It is not a regular file (VBP-2). Fix: remove it, or put a plugin there.");
  if (!is_trusted(&info))
    return vyre_fail(error, VYRE_ERR_DENIED, path,
                     "This process runs with more rights than its user, and others may write the file. Fix: give it "
                     "to root and take write permission from all others.");
  if (info.st_size == 0)
    return vyre_fail(error, VYRE_ERR_NOT_A_PLUGIN, path, "The file is empty (VBP-2). Fix: install it again.");
  if (!read_at(fd, &header, sizeof header, 0)) return truncated(path, (uint64_t)info.st_size, error);
  vyre_status status = check_header(path, &header, error);
  if (status != VYRE_OK) return status;
  return check_segments(path, fd, &header, (uint64_t)info.st_size, error);
}

vyre_status vyre_elf_check(const char *path, vyre_error *error) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return vyre_fail(error, errno == EACCES ? VYRE_ERR_DENIED : VYRE_ERR_IO, path,
                     "The file can't be opened: %s. Fix: repair it, or take it away.", strerrordesc_np(errno));
  vyre_status status = check_open_file(path, fd, error);
  close(fd);
  return status;
}
