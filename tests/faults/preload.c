/* Lets one chosen call of a process tree fail: LD_PRELOAD. `tests/faults/__init__.py` says what is chosen.
 *
 * Counted are calls that change files below FAULTS_BELOW (and, of open, those that may write), and all that start a
 * process. The counter is shared memory, the file FAULTS, so children go on where their parents are. A failing write
 * leaves half of its bytes on disk, as a full disk may. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CALLS = 4096, TEXT = 248 };
enum how { COUNT, ONCE, LASTS, KILL };

/* As `Shared` in __init__.py lays it out. */
struct shared {
    atomic_uint calls;       /* so far */
    unsigned nth;            /* the one that fails, from 1 */
    unsigned how;            /* enum how */
    unsigned variant;        /* which of the kind's two errors */
    char called[CALLS][TEXT];
};

static struct shared *shared;
static char below[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("FAULTS"), *root = getenv("FAULTS_BELOW");
    if (!file || !root) return;
    int (*opens)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    int fd = opens(file, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *map = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return;
    snprintf(below, sizeof below, "%s", root);
    shared = map;
}

static int is_below(const char *path) {
    size_t length = strlen(below);
    return strncmp(path, below, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* The path of a descriptor; empty if it has none. */
static const char *of_fd(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
}

static const char *of_name(int folder, const char *name, char *path) {
    if (!name) name = "";
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return path;
    }
    char base[PATH_MAX];
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) base[0] = 0;
    } else {
        of_fd(folder, base);
    }
    if (snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX) path[0] = 0;
    return path;
}

/* Counts a call. Returns true, with errno set, if it is to fail. */
static int fails(const char *call, const char *path, int error, int other) {
    if (!shared || (path && !is_below(path))) return 0;
    int saved = errno;
    unsigned number = atomic_fetch_add(&shared->calls, 1) + 1;
    if (number - 1 < CALLS)
        snprintf(shared->called[number - 1], TEXT, "%s %s", call, path ? path + strlen(below) : "");
    int chosen = shared->how == LASTS ? number >= shared->nth : number == shared->nth;
    if (shared->how == COUNT || !chosen) {
        errno = saved;
        return 0;
    }
    if (shared->how == KILL) {
        kill(getpid(), SIGKILL);
        _exit(137); /* The first process of a namespace cannot kill itself. */
    }
    errno = shared->variant ? other : error;
    return 1;
}

static int fails_at(const char *call, int fd, int error, int other) {
    if (!shared) return 0;
    char path[PATH_MAX];
    int saved = errno, is_ours = of_fd(fd, path)[0] == '/';
    errno = saved;
    return is_ours && fails(call, path, error, other);
}

static int fails_named(const char *call, int folder, const char *name, int error, int other) {
    if (!shared) return 0;
    char path[PATH_MAX];
    return fails(call, of_name(folder, name, path), error, other);
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    if (!fails_at("write", fd, ENOSPC, EIO)) return real(fd, data, size);
    int error = errno;
    if (real(fd, data, size / 2) < 0) {}
    errno = error;
    return -1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL(pwrite);
    return fails_at("write", fd, ENOSPC, EIO) ? -1 : real(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    return fails_at("write", fd, ENOSPC, EIO) ? -1 : real(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    return fails_at("write", fd, ENOSPC, EIO) ? -1 : real(fd, parts, count);
}

ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    REAL(sendfile);
    return fails_at("write", to, ENOSPC, EIO) ? -1 : real(to, from, at, size);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
    REAL(sendfile64);
    return fails_at("write", to, ENOSPC, EIO) ? -1 : real(to, from, at, size);
}

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *place, size_t size, unsigned flags) {
    REAL(copy_file_range);
    return fails_at("write", to, ENOSPC, EIO) ? -1 : real(from, at, to, place, size, flags);
}

int ftruncate(int fd, off_t size) {
    REAL(ftruncate);
    return fails_at("truncate", fd, EIO, EIO) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    REAL(ftruncate64);
    return fails_at("truncate", fd, EIO, EIO) ? -1 : real(fd, size);
}

int fsync(int fd) {
    REAL(fsync);
    return fails_at("fsync", fd, EIO, ENOSPC) ? -1 : real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    return fails_at("fsync", fd, EIO, ENOSPC) ? -1 : real(fd);
}

static int refuses_open(int folder, const char *name, int flags) {
    return flags & (O_WRONLY | O_RDWR | O_CREAT) && fails_named("open", folder, name, EMFILE, EACCES);
}

#define OPEN(name)                                                                                                    \
    int name(const char *path, int flags, ...) {                                                                      \
        va_list more;                                                                                                 \
        va_start(more, flags);                                                                                        \
        mode_t mode = va_arg(more, mode_t);                                                                           \
        va_end(more);                                                                                                 \
        REAL(name);                                                                                                   \
        return refuses_open(AT_FDCWD, path, flags) ? -1 : real(path, flags, mode);                                    \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                  \
    int name(int folder, const char *path, int flags, ...) {                                                          \
        va_list more;                                                                                                 \
        va_start(more, flags);                                                                                        \
        mode_t mode = va_arg(more, mode_t);                                                                           \
        va_end(more);                                                                                                 \
        REAL(name);                                                                                                   \
        return refuses_open(folder, path, flags) ? -1 : real(folder, path, flags, mode);                              \
    }
OPENAT(openat)
OPENAT(openat64)

int mkdirat(int folder, const char *name, mode_t mode) {
    REAL(mkdirat);
    return fails_named("mkdir", folder, name, ENOSPC, EACCES) ? -1 : real(folder, name, mode);
}

int mkdir(const char *name, mode_t mode) {
    REAL(mkdir);
    return fails_named("mkdir", AT_FDCWD, name, ENOSPC, EACCES) ? -1 : real(name, mode);
}

int renameat(int from, const char *old, int to, const char *new) {
    REAL(renameat);
    return fails_named("rename", to, new, EIO, EACCES) ? -1 : real(from, old, to, new);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    REAL(renameat2);
    return fails_named("rename", to, new, EIO, EACCES) ? -1 : real(from, old, to, new, flags);
}

int rename(const char *old, const char *new) {
    REAL(rename);
    return fails_named("rename", AT_FDCWD, new, EIO, EACCES) ? -1 : real(old, new);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    REAL(linkat);
    return fails_named("link", to, new, EIO, EACCES) ? -1 : real(from, old, to, new, flags);
}

int unlinkat(int folder, const char *name, int flags) {
    REAL(unlinkat);
    return fails_named("unlink", folder, name, EIO, EACCES) ? -1 : real(folder, name, flags);
}

int unlink(const char *name) {
    REAL(unlink);
    return fails_named("unlink", AT_FDCWD, name, EIO, EACCES) ? -1 : real(name);
}

int rmdir(const char *name) {
    REAL(rmdir);
    return fails_named("unlink", AT_FDCWD, name, EIO, EACCES) ? -1 : real(name);
}

pid_t fork(void) {
    REAL(fork);
    return fails("spawn", NULL, EAGAIN, ENOMEM) ? -1 : real();
}

/* A fork in its place is slower, and nothing else: its child only calls exec or _exit. It may not return from here
 * on the parent's stack. */
pid_t vfork(void) {
    return fork();
}

static int refuses_spawn(void) {
    int saved = errno, refused = fails("spawn", NULL, EAGAIN, ENOMEM) ? errno : 0;
    errno = saved;
    return refused;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
                char *const *words, char *const *environment) {
    REAL(posix_spawn);
    int refused = refuses_spawn();
    return refused ? refused : real(pid, path, actions, how, words, environment);
}

int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
                 char *const *words, char *const *environment) {
    REAL(posix_spawnp);
    int refused = refuses_spawn();
    return refused ? refused : real(pid, path, actions, how, words, environment);
}
