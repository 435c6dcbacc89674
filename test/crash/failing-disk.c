// A disk that fails on demand, for LD_PRELOAD: calls on files below FAIL_ROOT fail as the control file says. The control
// file is eight 32-bit numbers, changed by the test while the process runs:
//   0 which calls (bits below), 1 the error, 2 the first call that fails, 3 how many fail (-1: all from there on),
//   4 calls so far, 5 calls that failed, 6 milliseconds that the next sync takes longer, 7 such syncs begun.
// FAIL_AFTER_BYTES: a disk that fills. So many bytes are written, the last of them by a short write; then FAIL_COUNT writes (-1: all)
// fail with FAIL_ERRNO. FAIL_SIGNAL: with the write after those bytes the process gets this signal.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// These may be macros.
#undef fwrite_unlocked
#undef fflush_unlocked

enum { WRITE = 1, SYNC = 2, RENAME = 4, CLOSE = 8 };

static volatile int32_t *control;
static const char *root;
static int64_t bytes_left = -1;
static int refusals_left, refusal, signal_left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t number(const char *name) {
  const char *text = getenv(name);
  return text ? atoll(text) : -1;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAIL_CONTROL");
  root = getenv("FAIL_ROOT");
  bytes_left = root ? number("FAIL_AFTER_BYTES") : -1;
  refusals_left = number("FAIL_COUNT");
  refusal = number("FAIL_ERRNO");
  signal_left = number("FAIL_SIGNAL");
  if (!path || !root) return;
  int fd = open(path, O_RDWR);
  if (fd < 0) return;
  void *at = mmap(NULL, 32, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) control = at;
}

static int is_ours(const char *path) { return strncmp(path, root, strlen(root)) == 0; }

static int is_our_file(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return is_ours(path);
}

// Whether this call is to fail: then errno is set.
static int fails(int call) {
  if (!control || !(control[0] & call)) return 0;
  int nth = __sync_add_and_fetch(&control[4], 1);
  if (nth < control[2] || (control[3] >= 0 && nth >= control[2] + control[3])) return 0;
  __sync_add_and_fetch(&control[5], 1);
  errno = control[1];
  return 1;
}

static int fails_on(int call, int fd) { return control && control[0] & call && is_our_file(fd) && fails(call); }

// How many of `size` bytes may be written; -1: none, and errno is set.
static ssize_t room(int fd, size_t size) {
  if (fails_on(WRITE, fd)) return -1;
  if (bytes_left < 0 || size == 0 || !is_our_file(fd)) return size;
  ssize_t most = size;
  pthread_mutex_lock(&lock);
  if (bytes_left > 0) {
    if ((int64_t)size > bytes_left) most = bytes_left;
    bytes_left -= most;
  } else {
    if (signal_left > 0) kill(getpid(), signal_left);
    signal_left = 0;
    if (refusals_left != 0) most = -1;
    if (refusals_left > 0) refusals_left--;
  }
  pthread_mutex_unlock(&lock);
  if (most < 0) errno = refusal;
  return most;
}

static void delay(int fd) {
  if (!control || control[6] <= 0 || !is_our_file(fd)) return;
  int ms = __sync_lock_test_and_set(&control[6], 0);
  __sync_add_and_fetch(&control[7], 1);
  struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(ssize_t, write, int, const void *, size_t);
  ssize_t most = room(fd, size);
  return most < 0 ? -1 : real(fd, bytes, most);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
  ssize_t most = room(fd, size);
  return most < 0 ? -1 : real(fd, bytes, most, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  ssize_t most = room(fd, size);
  return most < 0 ? -1 : real(fd, bytes, most, at);
}
static size_t total(const struct iovec *parts, int count) {
  size_t size = 0;
  for (int i = 0; i < count; i++) size += parts[i].iov_len;
  return size;
}
// What a short write of several parts writes: of the first.
static struct iovec begun(const struct iovec *parts, size_t most) {
  struct iovec first = parts[0];
  if (first.iov_len > most) first.iov_len = most;
  return first;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  ssize_t most = room(fd, total(parts, count));
  if (most < 0) return -1;
  if ((size_t)most == total(parts, count)) return real(fd, parts, count);
  struct iovec first = begun(parts, most);
  return real(fd, &first, 1);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
  ssize_t most = room(fd, total(parts, count));
  if (most < 0) return -1;
  if ((size_t)most == total(parts, count)) return real(fd, parts, count, at);
  struct iovec first = begun(parts, most);
  return real(fd, &first, 1, at);
}
// LevelDB writes this way.
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *file) {
  REAL(size_t, fwrite_unlocked, const void *, size_t, size_t, FILE *);
  ssize_t most = room(fileno(file), size * count);
  if (most < 0) return 0;
  if ((size_t)most == size * count || refusals_left == 0) return real(bytes, size, count, file);
  errno = refusal; // LevelDB does not try again after a short write
  return real(bytes, size, most / size, file);
}
int fflush_unlocked(FILE *file) {
  REAL(int, fflush_unlocked, FILE *);
  return file && fails_on(WRITE, fileno(file)) ? EOF : real(file);
}
int fsync(int fd) {
  REAL(int, fsync, int);
  delay(fd);
  return fails_on(SYNC, fd) ? -1 : real(fd);
}
int fdatasync(int fd) {
  REAL(int, fdatasync, int);
  delay(fd);
  return fails_on(SYNC, fd) ? -1 : real(fd);
}
int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  return control && is_ours(to) && fails(RENAME) ? -1 : real(from, to);
}
// Only of files that were written. The descriptor is closed all the same, as on Linux.
int close(int fd) {
  REAL(int, close, int);
  int is_failing = control && control[0] & CLOSE && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY && fails_on(CLOSE, fd);
  int error = errno;
  int result = real(fd);
  if (!is_failing) return result;
  errno = error;
  return -1;
}
// libuv closes files this way.
long syscall(long number, ...) {
  REAL(long, syscall, long, ...);
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (int i = 0; i < 6; i++) arguments[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_close) return close((int)arguments[0]);
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
