/* Finding and loading plugins: what is sound is used, and what is not leaves a row with the reason. */
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "places.h"
#include "slot_names.h"

#define PLUGIN(name) below("vyre_backend_%s.so", name)

/* Loads one place with one path as the search path. */
static vyre_context *load(const char *path, vyre_config **config) {
  *config = config_for(path);
  vyre_context *context = context_for(*config);
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_backends_load(context, &error) == VYRE_OK, "%s", error.text);
  return context;
}

static void unload(vyre_context *context, vyre_config *config) {
  vyre_context_destroy(context);
  vyre_config_destroy(config);
  remove_place();
}

/* ---- Each fault of the fake plugin ----------------------------------------------------------- */

typedef struct fault {
  const char *name;
  vyre_verdict verdict;
  vyre_status status;
  const char *says; /* part of the reason */
} fault;

static const fault faults[] = {
  { "sound", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  { "declines", VYRE_VERDICT_REFUSED, VYRE_ERR_ABI_MISMATCH, "declines" },
  { "wrongmagic", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "0x1122334455667788" },
  { "shortdesc", VYRE_VERDICT_REFUSED, VYRE_ERR_BROKEN_PLUGIN, "40 bytes" },
  { "frozenonly", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  { "longdesc", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  { "oldermajor", VYRE_VERDICT_REFUSED, VYRE_ERR_ABI_MISMATCH, "this library ABI 0.1" },
  { "newermajor", VYRE_VERDICT_REFUSED, VYRE_ERR_ABI_MISMATCH, "speaks ABI 1.1" },
  { "newerminor", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  { "needsnewer", VYRE_VERDICT_REFUSED, VYRE_ERR_ABI_MISMATCH, "at least ABI 0.2" },
  { "unknownflag", VYRE_VERDICT_REFUSED, VYRE_ERR_ABI_MISMATCH, "0x40000000" },
  { "takesnothing", VYRE_VERDICT_REFUSED, VYRE_ERR_UNSUPPORTED, "neither programs nor the kernel form" },
  { "sanitizer", VYRE_VERDICT_REFUSED, VYRE_ERR_ABI_MISMATCH, "sanitizer" },
  { "fingerprint", VYRE_VERDICT_REFUSED, VYRE_ERR_ABI_MISMATCH, "0x0123456789ABCDEF" },
  { "cpu", VYRE_VERDICT_REFUSED, VYRE_ERR_UNSUPPORTED, "instruction set" },
  { "misnamed", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "holds backend another" },
  { "nameless", VYRE_VERDICT_REFUSED, VYRE_ERR_BROKEN_PLUGIN, "lacks a name" },
  { "tableless", VYRE_VERDICT_REFUSED, VYRE_ERR_BROKEN_PLUGIN, "the table" },
  { "shorttable", VYRE_VERDICT_REFUSED, VYRE_ERR_BROKEN_PLUGIN, "mandatory slot submit" },
  { "shortoptional", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  { "longtable", VYRE_VERDICT_USABLE, VYRE_OK, "" },
#define X(slot) { "null_" #slot, VYRE_VERDICT_REFUSED, VYRE_ERR_BROKEN_PLUGIN, "mandatory slot " #slot },
  MANDATORY_SLOTS(X)
#undef X
#define X(slot) { "null_" #slot, VYRE_VERDICT_USABLE, VYRE_OK, "" },
  OPTIONAL_SLOTS(X)
#undef X
  { "absent", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_LIBRARY_ABSENT, "libfake.so.1 is not installed" },
  { "tooold", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_TOO_OLD, "at least 2.0" },
  { "noaccess", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_DENIED, "join group fake" },
  { "silent", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_TOO_OLD, "gave no reason" },
  { "oddprobe", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_BROKEN_PLUGIN, "-12345, which is no status" },
  { "openfails", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_IO, "could not be opened" },
  { "opennull", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_BROKEN_PLUGIN, "without an instance" },
  { "nodevices", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_NO_DEVICE, "no device here" },
  { "manydevices", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  { "toomany", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_BROKEN_PLUGIN, "4000000000" },
  { "grows", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  { "shrinks", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_NOT_FOUND, "pulled out" },
  { "badrecord", VYRE_VERDICT_UNAVAILABLE, VYRE_ERR_BROKEN_PLUGIN, "binding_alignment" },
};
enum { FAULTS = sizeof faults / sizeof *faults };

START_TEST(every_fault_has_its_row) {
  const char *root = place();
  for (int i = 0; i < FAULTS; i++) copy_fake(PLUGIN(faults[i].name));
  vyre_config *config;
  vyre_context *context = load(root, &config);
  for (int i = 0; i < FAULTS; i++) {
    const fault *f = &faults[i];
    vyre_backend_info info = row_of(context, PLUGIN(f->name));
    ck_assert_str_eq(info.name, f->name);
    ck_assert_msg(info.verdict == f->verdict && info.status == f->status && strstr(info.reason, f->says) != NULL,
                  "%s is %s, %s: %s", f->name, vyre_verdict_name(info.verdict), vyre_status_name(info.status),
                  info.reason);
    bool is_usable = info.verdict == VYRE_VERDICT_USABLE;
    ck_assert_int_eq(is_usable, info.device_count > 0);
    if (is_usable) ck_assert_str_eq(info.build_id, "fake build");
    /* A named one that is unusable is an error with that reason; nothing else is taken. */
    vyre_device *device = NULL;
    vyre_error error = VYRE_ERROR_INIT;
    ck_assert_int_eq(vyre_device_open(context, f->name, &device, &error), f->status);
    ck_assert_int_eq(device != NULL, is_usable);
    if (!is_usable) ck_assert_msg(strstr(error.text, f->says) != NULL, "%s", error.text);
    vyre_device_close(device, 0, NULL);
  }
  unload(context, config);
}
END_TEST

START_TEST(many_devices_are_listed_and_named) {
  const char *root = place();
  copy_fake(PLUGIN("manydevices"));
  copy_fake(PLUGIN("uuids"));
  vyre_config *config;
  vyre_context *context = load(root, &config);
  vyre_capabilities caps;
  vyre_device *device;
  ck_assert_int_eq(vyre_backend_device(context, 0, 2999, &caps, NULL), VYRE_OK);
  ck_assert_str_eq(caps.name, "Fake device 2999");
  ck_assert_int_eq(vyre_backend_device(context, 0, 3000, &caps, NULL), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_backend_device(context, 9, 0, &caps, NULL), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_device_open(context, "manydevices:2999", &device, NULL), VYRE_OK);
  ck_assert_str_eq(vyre_device_name(device), "manydevices:2999");
  ck_assert_str_eq(vyre_device_backend(device), "manydevices");
  vyre_device_close(device, 0, NULL);
  ck_assert_int_eq(vyre_device_open(context, "manydevices:3000", &device, NULL), VYRE_ERR_NOT_FOUND);
  const char *uuid = "uuids:a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
  ck_assert_int_eq(vyre_device_open(context, uuid, &device, NULL), VYRE_OK);
  ck_assert_str_eq(vyre_device_name(device), uuid);
  ck_assert_str_eq(vyre_device_capabilities(device)->name, "Fake device 1");
  vyre_device_close(device, 0, NULL);
  unload(context, config);
}
END_TEST

START_TEST(names_that_mean_nothing) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  vyre_config *config;
  vyre_context *context = load(root, &config);
  vyre_device *device;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_device_open(context, "soudn", &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_msg(strstr(error.text, "did you mean \"sound\"") != NULL, "%s", error.text);
  ck_assert_int_eq(vyre_device_open(context, "", &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_device_open(context, ":0", &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_device_open(context, "sound:", &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_device_open(context, "sound:-1", &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_device_open(context, "sound:0x1", &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_device_open(context, "sound:99999999999999999999", &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_device_open(context, "../sound", &device, &error), VYRE_ERR_NOT_FOUND);
  const char *too_long = "a_name_that_is_longer_than_any_backend_may_have";
  ck_assert_int_eq(vyre_device_open(context, too_long, &device, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_ptr_null(device);
  unload(context, config);
}
END_TEST

/* ---- Files that are no plugins --------------------------------------------------------------- */

START_TEST(files_that_are_no_plugins) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  write_file(PLUGIN("empty"), "", 0);
  static const char words[] = "This is no library, but it is longer than an ELF header is, by some bytes at least.";
  write_file(PLUGIN("words"), words, sizeof words);
  make_directory(PLUGIN("directory"));
  ck_assert_int_eq(symlink("/nonexistent/file", PLUGIN("dangling")), 0);
  ck_assert_int_eq(mkfifo(PLUGIN("pipe"), 0644), 0);
  size_t bytes;
  unsigned char *fake = read_fake(&bytes);
  Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)fake;
  header->e_machine = EM_MIPS;
  write_file(PLUGIN("othermachine"), fake, bytes);
  header->e_ident[EI_CLASS] = ELFCLASS32;
  write_file(PLUGIN("otherclass"), fake, bytes);
  free(fake);
  fake = read_fake(&bytes);
  header = (Elf64_Ehdr *)(void *)fake;
  header->e_type = ET_REL;
  write_file(PLUGIN("object"), fake, bytes);
  free(fake);
  fake = read_fake(&bytes); /* the same library without the symbol */
  for (size_t i = 0; i + 18 <= bytes; i++)
    if (memcmp(fake + i, "vyre_backend_query", 18) == 0) fake[i] = 'x';
  write_file(PLUGIN("nosymbol"), fake, bytes);
  free(fake);
  vyre_config *config;
  vyre_context *context = load(root, &config);
  static const fault wrong[] = {
    { "empty", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "empty" },
    { "words", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "not a shared object" },
    { "directory", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "not a regular file" },
    { "dangling", VYRE_VERDICT_UNREADABLE, VYRE_ERR_IO, "No such file" },
    { "pipe", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "not a regular file" },
    { "othermachine", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "machine 8" },
    { "otherclass", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "ELF class 1" },
    { "object", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "not a shared object" },
    { "nosymbol", VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN, "vyre_backend_query" },
    { "sound", VYRE_VERDICT_USABLE, VYRE_OK, "" },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    vyre_backend_info info = row_of(context, PLUGIN(wrong[i].name));
    ck_assert_msg(info.verdict == wrong[i].verdict && info.status == wrong[i].status &&
                      strstr(info.reason, wrong[i].says) != NULL,
                  "%s is %s, %s: %s", wrong[i].name, vyre_verdict_name(info.verdict), vyre_status_name(info.status),
                  info.reason);
  }
  unload(context, config);
}
END_TEST

/* A file cut off anywhere must never reach the dynamic linker. */
START_TEST(truncated_files) {
  enum { CUTS = 25 };
  const char *root = place();
  size_t bytes;
  free(read_fake(&bytes));
  for (size_t i = 0; i < CUTS; i++) {
    char name[32];
    snprintf(name, sizeof name, "cut%zu", i);
    copy_fake_part(PLUGIN(name), 1 + i * (bytes - 2) / (CUTS - 1));
  }
  vyre_config *config;
  vyre_context *context = load(root, &config);
  for (size_t i = 0; i < CUTS; i++) {
    char name[32];
    snprintf(name, sizeof name, "cut%zu", i);
    vyre_backend_info info = row_of(context, PLUGIN(name));
    ck_assert_int_eq(info.verdict, VYRE_VERDICT_REFUSED);
    ck_assert_msg(strstr(info.reason, "truncated") != NULL, "%s: %s", name, info.reason);
  }
  unload(context, config);
}
END_TEST

/* Any byte of the headers may be anything. */
START_TEST(headers_with_any_byte_changed) {
  const char *root = place();
  size_t bytes;
  unsigned char *fake = read_fake(&bytes);
  vyre_config *config = config_for(root);
  unsigned refused = 0;
  for (size_t at = 0; at < sizeof(Elf64_Ehdr); at++) {
    unsigned char old = fake[at];
    fake[at] = 0xFF;
    write_file(PLUGIN("sound"), fake, bytes);
    fake[at] = old;
    /* Only the fields that are checked before the linker sees the file; it checks the others itself. */
    bool is_checked = (at >= 4 && at < 6) || (at >= 16 && at < 20) || (at >= 32 && at < 48) || at == 55 || at == 57;
    if (!is_checked && at >= 4) continue;
    vyre_context *context = context_for(config);
    ck_assert_int_eq(vyre_backends_load(context, NULL), VYRE_OK);
    refused += row_of(context, PLUGIN("sound")).verdict == VYRE_VERDICT_REFUSED;
    vyre_context_destroy(context);
  }
  ck_assert_uint_ge(refused, 20);
  free(fake);
  vyre_config_destroy(config);
  remove_place();
}
END_TEST

START_TEST(similar_names_are_left_alone) {
  static const char *const names[] = { "vyre_backend_.so",   "vyre_backend_sound.so.1", "vyre_backend_Sound.so",
                                       "vyre_backend-x.so",  "vyre_backend_a-b.so",     "vyre_backend_1a.so",
                                       "vyre_backend_x.so~", "libvyre_backend_x.so",    "vyre_backend_x.dll",
                                       "vyre_backend_a_name_of_more_than_thirty_two_bytes.so" };
  const char *root = place();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) copy_fake(below("%s", names[i]));
  vyre_config *config;
  vyre_context *context = load(root, &config);
  vyre_backend_info info;
  ck_assert(!vyre_backend_describe(context, 0, &info));
  unload(context, config);
}
END_TEST

START_TEST(file_without_permission) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  copy_fake(PLUGIN("other"));
  ck_assert_int_eq(chmod(PLUGIN("sound"), 0), 0);
  ck_assert_int_eq(chmod(root, 0755), 0);
  if (geteuid() == 0) ck_assert_int_eq(seteuid(65534), 0); /* root may read everything */
  vyre_config *config;
  vyre_context *context = load(root, &config);
  vyre_backend_info info = row_of(context, PLUGIN("sound"));
  ck_assert_int_eq(info.verdict, VYRE_VERDICT_UNREADABLE);
  ck_assert_int_eq(info.status, VYRE_ERR_DENIED);
  ck_assert_int_eq(row_of(context, PLUGIN("other")).verdict, VYRE_VERDICT_USABLE);
  if (getuid() == 0) ck_assert_int_eq(seteuid(0), 0);
  unload(context, config);
}
END_TEST

/* ---- Places ---------------------------------------------------------------------------------- */

START_TEST(bad_places_do_not_spoil_the_search) {
  place();
  make_directory(below("good"));
  copy_fake(below("good/vyre_backend_sound.so"));
  write_file(below("file"), "x", 1);
  ck_assert_int_eq(symlink("/nonexistent", below("dangling")), 0);
  char path[4096];
  snprintf(path, sizeof path, "%s:%s:%s:%s", below("missing"), below("dangling"), below("file"), below("good"));
  vyre_config *config;
  vyre_context *context = load(path, &config);
  ck_assert_int_eq(row_of(context, below("missing")).verdict, VYRE_VERDICT_UNREADABLE);
  ck_assert_int_eq(row_of(context, below("dangling")).verdict, VYRE_VERDICT_UNREADABLE);
  ck_assert_int_eq(row_of(context, below("file")).verdict, VYRE_VERDICT_REFUSED);
  ck_assert_int_eq(row_of(context, below("good/vyre_backend_sound.so")).verdict, VYRE_VERDICT_USABLE);
  unload(context, config);
}
END_TEST

START_TEST(odd_paths) {
  place();
  static const char *const names[] = { "with spaces", "\xC3\xBCml\xC3\xA4ut \xE2\x82\xAC", "new\nline", "per%cent" };
  char path[8192] = "";
  for (size_t i = 0; i < 4; i++) {
    make_directory(below("%s", names[i]));
    char name[32];
    snprintf(name, sizeof name, "odd%zu", i);
    copy_fake(below("%s/vyre_backend_%s.so", names[i], name));
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", i > 0 ? ":" : "", below("%s", names[i]));
  }
  vyre_config *config;
  vyre_context *context = load(path, &config);
  for (size_t i = 0; i < 4; i++) {
    char name[32];
    snprintf(name, sizeof name, "odd%zu", i);
    vyre_backend_info info = row_of(context, below("%s/vyre_backend_%s.so", names[i], name));
    ck_assert_msg(info.verdict == VYRE_VERDICT_USABLE, "%s", info.reason);
  }
  unload(context, config);
}
END_TEST

START_TEST(very_long_path) {
  const char *root = place();
  char part[201], path[6000];
  memset(part, 'p', 200);
  part[200] = 0;
  snprintf(path, sizeof path, "%s", root);
  for (int i = 0; i < 25; i++) snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", part);
  vyre_config *config;
  vyre_context *context = load(path, &config);
  ck_assert_int_eq(row_of(context, path).verdict, VYRE_VERDICT_UNREADABLE);
  unload(context, config);
}
END_TEST

START_TEST(the_higher_version_wins) {
  place();
  static const char *const versions[] = { "1.9", "1.10.2", "1.10" };
  char path[4096] = "";
  for (int i = 0; i < 3; i++) {
    make_directory(below("%s", versions[i]));
    copy_fake(below("%s/vyre_backend_sound.so", versions[i]));
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", i > 0 ? ":" : "", below("%s", versions[i]));
  }
  vyre_config *config;
  vyre_context *context = load(path, &config);
  vyre_backend_info old = row_of(context, below("1.9/vyre_backend_sound.so"));
  vyre_backend_info best = row_of(context, below("1.10.2/vyre_backend_sound.so"));
  ck_assert_int_eq(old.verdict, VYRE_VERDICT_SHADOWED);
  ck_assert_msg(strstr(old.reason, "1.10.2") != NULL, "%s", old.reason);
  ck_assert_int_eq(best.verdict, VYRE_VERDICT_USABLE);
  ck_assert_str_eq(best.version, "1.10.2");
  ck_assert_int_eq(row_of(context, below("1.10/vyre_backend_sound.so")).verdict, VYRE_VERDICT_SHADOWED);
  unload(context, config);
}
END_TEST

START_TEST(of_equal_versions_the_earlier_place_wins) {
  place();
  make_directory(below("b"));
  make_directory(below("a"));
  copy_fake(below("a/vyre_backend_sound.so"));
  copy_fake(below("b/vyre_backend_sound.so"));
  char path[4096];
  snprintf(path, sizeof path, "%s:%s", below("b"), below("a"));
  vyre_config *config;
  vyre_context *context = load(path, &config);
  ck_assert_int_eq(row_of(context, below("b/vyre_backend_sound.so")).verdict, VYRE_VERDICT_USABLE);
  ck_assert_int_eq(row_of(context, below("a/vyre_backend_sound.so")).verdict, VYRE_VERDICT_SHADOWED);
  unload(context, config);
}
END_TEST

START_TEST(a_named_file_wins_over_versions) {
  place();
  make_directory(below("2.0"));
  make_directory(below("1.0"));
  copy_fake(below("2.0/vyre_backend_sound.so"));
  copy_fake(below("1.0/vyre_backend_sound.so"));
  char path[4096];
  snprintf(path, sizeof path, "%s:%s", below("2.0"), below("1.0/vyre_backend_sound.so"));
  vyre_config *config;
  vyre_context *context = load(path, &config);
  ck_assert_int_eq(row_of(context, below("1.0/vyre_backend_sound.so")).verdict, VYRE_VERDICT_USABLE);
  ck_assert_int_eq(row_of(context, below("2.0/vyre_backend_sound.so")).verdict, VYRE_VERDICT_SHADOWED);
  unload(context, config);
}
END_TEST

START_TEST(a_refused_file_does_not_shadow) {
  place();
  make_directory(below("9.0"));
  make_directory(below("1.0"));
  write_file(below("9.0/vyre_backend_sound.so"), "", 0);
  copy_fake(below("1.0/vyre_backend_sound.so"));
  char path[4096];
  snprintf(path, sizeof path, "%s:%s", below("9.0"), below("1.0"));
  vyre_config *config;
  vyre_context *context = load(path, &config);
  ck_assert_int_eq(row_of(context, below("9.0/vyre_backend_sound.so")).verdict, VYRE_VERDICT_REFUSED);
  ck_assert_int_eq(row_of(context, below("1.0/vyre_backend_sound.so")).verdict, VYRE_VERDICT_USABLE);
  unload(context, config);
}
END_TEST

/* ---- Settings -------------------------------------------------------------------------------- */

START_TEST(disabled_plugins_are_never_opened) {
  const char *root = place();
  copy_fake(PLUGIN("alpha"));
  copy_fake(PLUGIN("beta"));
  static const struct {
    const char *enable;
    bool alpha, beta;
  } cases[] = { { "^beta", true, false }, { "none", false, false }, { "beta", false, true },
                { "alpha, beta", true, true } };
  vyre_config *config = config_for(root);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_ENABLE, cases[i].enable, NULL, NULL), VYRE_OK);
    vyre_context *context = context_for(config);
    ck_assert_int_eq(vyre_backends_load(context, NULL), VYRE_OK);
    ck_assert_int_eq(row_of(context, PLUGIN("alpha")).verdict == VYRE_VERDICT_USABLE, cases[i].alpha);
    ck_assert_int_eq(row_of(context, PLUGIN("beta")).verdict == VYRE_VERDICT_USABLE, cases[i].beta);
    if (i == 0) ck_assert(is_mapped(PLUGIN("alpha")) && !is_mapped(PLUGIN("beta")));
    if (!cases[i].beta) {
      vyre_device *device;
      vyre_error error = VYRE_ERROR_INIT;
      ck_assert_int_eq(vyre_device_open(context, "beta", &device, &error), VYRE_ERR_DENIED);
      ck_assert_msg(strstr(error.text, "backends.enable") != NULL, "%s", error.text);
    }
    vyre_context_destroy(context);
  }
  vyre_config_destroy(config);
  remove_place();
}
END_TEST

START_TEST(only_what_is_asked_for_is_opened) {
  const char *root = place();
  copy_fake(PLUGIN("alpha"));
  copy_fake(PLUGIN("beta"));
  vyre_config *config = config_for(root);
  vyre_context *context = context_for(config);
  vyre_device *device;
  ck_assert_int_eq(vyre_device_open(context, "beta", &device, NULL), VYRE_OK);
  ck_assert(is_mapped(PLUGIN("beta")) && !is_mapped(PLUGIN("alpha")));
  ck_assert_int_eq(row_of(context, PLUGIN("alpha")).verdict, VYRE_VERDICT_UNTRIED);
  vyre_device_close(device, 0, NULL);
  unload(context, config);
}
END_TEST

typedef struct kept {
  char text[4096];
} kept;

static void keep(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  kept *k = ctx;
  size_t used = strlen(k->text);
  snprintf(k->text + used, sizeof k->text - used, "%s|%s|%s\n", vyre_log_level_name(level), subsystem, text);
}

START_TEST(auto_takes_the_first_of_the_order_and_says_so) {
  const char *root = place();
  copy_fake(PLUGIN("alpha"));
  copy_fake(PLUGIN("absent"));
  copy_fake(PLUGIN("cpu_ref")); /* last, whatever its name is */
  vyre_config *config = config_for(root);
  vyre_log *log;
  kept k = { "" };
  ck_assert_int_eq(vyre_log_create(&log), VYRE_OK);
  ck_assert_int_eq(vyre_log_set(log, VYRE_LOG_INFO, keep, &k), VYRE_OK);
  vyre_context *context;
  ck_assert_int_eq(vyre_context_create(config, log, &context, NULL), VYRE_OK);
  vyre_device *device;
  ck_assert_int_eq(vyre_device_open(context, "auto", &device, NULL), VYRE_OK);
  ck_assert_str_eq(vyre_device_name(device), "alpha:0");
  ck_assert_msg(strstr(k.text, "auto takes alpha:0") != NULL, "%s", k.text);
  ck_assert_msg(strstr(k.text, "auto passes over absent") != NULL, "%s", k.text);
  ck_assert_msg(strstr(k.text, "libfake.so.1") != NULL, "%s", k.text);
  vyre_device_close(device, 0, NULL);
  vyre_context_destroy(context);
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_ORDER, "cpu_ref, alpha", NULL, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_context_create(config, log, &context, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_device_open(context, NULL, &device, NULL), VYRE_OK);
  ck_assert_str_eq(vyre_device_name(device), "cpu_ref:0");
  vyre_device_close(device, 0, NULL);
  vyre_context_destroy(context);
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_ORDER, "absent, missing", NULL, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_context_create(config, log, &context, NULL), VYRE_OK);
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_device_open(context, "auto", &device, &error), VYRE_ERR_NO_DEVICE);
  ck_assert_msg(strstr(error.text, "absent") != NULL && strstr(error.text, "missing") != NULL, "%s", error.text);
  vyre_context_destroy(context);
  vyre_log_destroy(log);
  vyre_config_destroy(config);
  remove_place();
}
END_TEST

/* ---- Threads, re-entry, fork ----------------------------------------------------------------- */

static vyre_context *reentered;

static vyre_status reenter(void) {
  vyre_device *device;
  vyre_backend_info info;
  vyre_status status = vyre_backends_load(reentered, NULL);
  if (status != vyre_device_open(reentered, "auto", &device, NULL)) return VYRE_ERR_INTERNAL;
  if (vyre_backend_describe(reentered, 0, &info)) return VYRE_ERR_INTERNAL;
  return status;
}

START_TEST(a_plugin_that_calls_back_gets_an_error) {
  const char *root = place();
  copy_fake(PLUGIN("reenters"));
  char address[32];
  snprintf(address, sizeof address, "%zx", (size_t)(uintptr_t)reenter);
  ck_assert_int_eq(setenv("FAKE_REENTER", address, 1), 0);
  vyre_config *config = config_for(root);
  reentered = context_for(config);
  ck_assert_int_eq(vyre_backends_load(reentered, NULL), VYRE_OK);
  ck_assert_int_eq(row_of(reentered, PLUGIN("reenters")).status, VYRE_ERR_REENTRANT);
  unload(reentered, config);
}
END_TEST

static void *open_slow(void *ctx) {
  vyre_device *device = NULL;
  vyre_status status = vyre_device_open(ctx, "slow", &device, NULL);
  vyre_device_close(device, 0, NULL);
  return status == VYRE_OK ? NULL : ctx;
}

START_TEST(threads_wait_for_one_load) {
  const char *root = place();
  copy_fake(PLUGIN("slow"));
  vyre_config *config = config_for(root);
  vyre_context *context = context_for(config);
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, open_slow, context), 0);
  for (int i = 0; i < 8; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    ck_assert_ptr_null(failed);
  }
  unload(context, config);
}
END_TEST

START_TEST(a_child_process_gets_an_error) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  vyre_config *config;
  vyre_context *context = load(root, &config);
  pid_t child = fork();
  if (child == 0) {
    vyre_device *device;
    vyre_backend_info info;
    vyre_error error = VYRE_ERROR_INIT;
    bool right = vyre_device_open(context, "sound", &device, &error) == VYRE_ERR_FORKED &&
                 vyre_backends_load(context, NULL) == VYRE_ERR_FORKED && !vyre_backend_describe(context, 0, &info) &&
                 strstr(error.text, "Fix: create a context after the fork") != NULL;
    vyre_context *own;
    right = right && vyre_context_create(config, NULL, &own, NULL) == VYRE_OK &&
            vyre_device_open(own, "sound", &device, NULL) == VYRE_OK;
    if (right) {
      vyre_device_close(device, 0, NULL);
      vyre_context_destroy(own);
    }
    static vyre_context *volatile inherited; /* a child may not close what it holds: it is kept, not lost */
    inherited = context;
    _exit(right && inherited != NULL ? 0 : 1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  unload(context, config);
}
END_TEST

START_TEST(a_context_can_be_made_again) {
  const char *root = place();
  copy_fake(PLUGIN("sound"));
  vyre_config *config = config_for(root);
  for (int i = 0; i < 3; i++) {
    vyre_context *first = context_for(config), *second = context_for(config);
    vyre_device *a, *b;
    ck_assert_int_eq(vyre_device_open(first, "sound", &a, NULL), VYRE_OK);
    ck_assert_int_eq(vyre_device_open(second, "sound", &b, NULL), VYRE_OK);
    vyre_device_close(a, 0, NULL);
    vyre_context_destroy(first);
    vyre_context_destroy(second); /* a device keeps its context */
    ck_assert_str_eq(vyre_device_name(b), "sound:0");
    vyre_device_close(b, 0, NULL);
  }
  vyre_config_destroy(config);
  remove_place();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    every_fault_has_its_row, many_devices_are_listed_and_named, names_that_mean_nothing, files_that_are_no_plugins,
    truncated_files, headers_with_any_byte_changed, similar_names_are_left_alone, file_without_permission,
    bad_places_do_not_spoil_the_search, odd_paths, very_long_path, the_higher_version_wins,
    of_equal_versions_the_earlier_place_wins, a_named_file_wins_over_versions, a_refused_file_does_not_shadow,
    disabled_plugins_are_never_opened, only_what_is_asked_for_is_opened,
    auto_takes_the_first_of_the_order_and_says_so, a_plugin_that_calls_back_gets_an_error, threads_wait_for_one_load,
    a_child_process_gets_an_error, a_context_can_be_made_again, NULL
  };
  return run_suite("loader", 60, tests);
}
