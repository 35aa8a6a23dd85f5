/* What our AppImage begins with: it unpacks the file system behind it once, and starts what lies there.
 *
 * A runtime of the AppImage project mounts that file system by FUSE, which containers do not allow and new
 * distributions do not bring.  This one needs the kernel alone: the first start of a version unpacks it below
 * $XDG_CACHE_HOME/rcv/appimage, and each later one starts from there.  Whoever starts another version removes those
 * that are not running.  As all of type 2 it answers --appimage-offset, --appimage-extract and --appimage-version,
 * and sets APPIMAGE, APPDIR, ARGV0 and OWD.
 *
 * Built by build.py with libsquashfuse, linked statically.
 */
#define _GNU_SOURCE
#include <squashfuse.h> /* first: it sets what the system's headers offer, and they correct it */

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char LOCK[] = ".lock";

/* libsquashfuse asks for it, and file systems packed with LZO are none of ours: liblzo2 stays out, whose licence (GPL)
 * would be that of the whole program. */
int lzo1x_decompress_safe(void) { return -1; }

static void die(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fputs("rcv: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(1);
}

__attribute__((format(printf, 2, 3))) static void join(char path[PATH_MAX], const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = vsnprintf(path, PATH_MAX, format, values);
    va_end(values);
    if (length < 0 || length >= PATH_MAX) die("A path is too long.");
}

/* Where our own program ends and the file system begins: behind the table of sections, which is last. */
static off_t end_of_program(int file) {
    Elf64_Ehdr head;
    if (pread(file, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        die("The AppImage cannot be read.");
    return (off_t)(head.e_shoff + (Elf64_Off)head.e_shentsize * head.e_shnum);
}

static void write_file(sqfs *from, sqfs_inode *inode, const char *path, mode_t mode) {
    static char buffer[1 << 20];
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0755);
    if (file < 0) die("%s cannot be written: %s.", path, strerror(errno));
    uint64_t size = inode->xtra.reg.file_size;
    for (uint64_t at = 0; at < size;) {
        sqfs_off_t count = sizeof buffer;
        if (sqfs_read_range(from, inode, (sqfs_off_t)at, &count, buffer) != SQFS_OK || count <= 0)
            die("The AppImage is damaged. Download it again.");
        for (sqfs_off_t done = 0; done < count;) {
            ssize_t written = write(file, buffer + done, (size_t)(count - done));
            if (written < 0) die("%s cannot be written: %s.", path, strerror(errno));
            done += written;
        }
        at += (uint64_t)count;
    }
    if (close(file) != 0) die("%s cannot be written: %s.", path, strerror(errno));
}

static void write_link(sqfs *from, sqfs_inode *inode, const char *path) {
    char target[PATH_MAX];
    size_t size = sizeof target;
    if (sqfs_readlink(from, inode, target, &size) != SQFS_OK) die("The AppImage is damaged. Download it again.");
    if (symlink(target, path) != 0) die("%s cannot be written: %s.", path, strerror(errno));
}

/* Unpack everything into a folder that is there and empty. */
static void unpack(const char *image, off_t offset, const char *folder) {
    sqfs from;
    sqfs_traverse walk;
    sqfs_err error = sqfs_open_image(&from, image, (size_t)offset);
    if (error == SQFS_OK) error = sqfs_traverse_open(&walk, &from, sqfs_inode_root(&from));
    if (error != SQFS_OK) die("The AppImage is damaged. Download it again.");
    while (sqfs_traverse_next(&walk, &error)) {
        if (walk.dir_end) continue;
        char path[PATH_MAX];
        sqfs_inode inode;
        join(path, "%s/%s", folder, walk.path);
        if (sqfs_inode_get(&from, &inode, sqfs_dentry_inode(&walk.entry)) != SQFS_OK)
            die("The AppImage is damaged. Download it again.");
        mode_t mode = (mode_t)inode.base.mode;
        if (S_ISDIR(mode)) {
            if (mkdir(path, 0755) != 0) die("%s cannot be made: %s.", path, strerror(errno));
        } else if (S_ISLNK(mode)) {
            write_link(&from, &inode, path);
        } else if (S_ISREG(mode)) {
            write_file(&from, &inode, path, mode);
        }
    }
    if (error != SQFS_OK) die("The AppImage is damaged. Download it again.");
    sqfs_traverse_close(&walk);
    sqfs_destroy(&from);
}

static int remove_one(const char *path, const struct stat *state, int kind, struct FTW *where) {
    (void)state, (void)kind, (void)where;
    return remove(path);
}

static void remove_tree(const char *folder) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* Open and take the lock of a folder; -1 if that fails, or if others have it and `how` does not wait.  It is free
 * again when every process that holds it has ended. */
static int locked(const char *folder, int how) {
    char path[PATH_MAX];
    join(path, "%s%s", folder, LOCK);
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (file >= 0 && flock(file, how) != 0) {
        close(file);
        return -1;
    }
    return file;
}

/* Remove unpacked versions other than ours that no program runs from. */
static void remove_others(const char *parent, const char *ours) {
    DIR *entries = opendir(parent);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        const char *name = entry->d_name + (entry->d_name[0] == '.'); /* a dot: its unpacking was interrupted */
        char folder[PATH_MAX], whole[PATH_MAX], lock[PATH_MAX];
        struct stat state;
        join(folder, "%s/%s", parent, entry->d_name);
        join(whole, "%s/%s", parent, name);
        join(lock, "%s%s", whole, LOCK);
        if (*name == '\0' || *name == '.' || strcmp(name, ours) == 0) continue;
        if (lstat(folder, &state) != 0 || !S_ISDIR(state.st_mode)) continue;
        int file = locked(whole, LOCK_EX | LOCK_NB);
        if (file < 0) continue;
        remove_tree(folder);
        unlink(lock);
        close(file);
    }
    if (entries != NULL) closedir(entries);
}

/* Make the folders of a path that are not there. */
static void make_folders(const char *path) {
    char part[PATH_MAX];
    join(part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0700);
        *slash = '/';
    }
    mkdir(part, 0700);
}

/* Where this version is unpacked, which is done if nobody did; it stays locked as long as this process lives. */
static void unpacked(const char *image, off_t offset, char folder[PATH_MAX]) {
    char parent[PATH_MAX], fresh[PATH_MAX], name[64];
    struct stat state;
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (stat(image, &state) != 0) die("%s cannot be read: %s.", image, strerror(errno));
    if (cache != NULL && cache[0] == '/')
        join(parent, "%s/rcv/appimage", cache);
    else if (home != NULL && home[0] == '/')
        join(parent, "%s/.cache/rcv/appimage", home);
    else
        join(parent, "/tmp/rcv-appimage-%u", (unsigned)getuid());
    make_folders(parent);
    if (stat(parent, &state) != 0 || state.st_uid != getuid())
        die("%s is not a folder of yours, so nothing is started from there. Set XDG_CACHE_HOME to another.", parent);
    if (stat(image, &state) != 0) die("%s cannot be read: %s.", image, strerror(errno));
    snprintf(name, sizeof name, "%llx-%llx.%lx", (unsigned long long)state.st_size,
             (unsigned long long)state.st_mtim.tv_sec, (unsigned long)state.st_mtim.tv_nsec);
    join(folder, "%s/%s", parent, name);
    int lock = locked(folder, LOCK_EX);
    if (lock < 0) die("%s cannot be written: %s.", parent, strerror(errno));
    if (access(folder, F_OK) != 0) {
        join(fresh, "%s/.%s", parent, name);
        remove_tree(fresh); /* of a start that was interrupted */
        if (mkdir(fresh, 0700) != 0) die("%s cannot be written: %s.", fresh, strerror(errno));
        unpack(image, offset, fresh);
        if (rename(fresh, folder) != 0) die("%s cannot be written: %s.", folder, strerror(errno));
        remove_others(parent, name);
    }
    flock(lock, LOCK_SH); /* and stays open across exec */
}

int main(int count, char **words) {
    char image[PATH_MAX], folder[PATH_MAX], program[PATH_MAX], here[PATH_MAX];
    if (realpath("/proc/self/exe", image) == NULL) die("/proc is not mounted.");
    int file = open(image, O_RDONLY | O_CLOEXEC);
    if (file < 0) die("%s cannot be read: %s.", image, strerror(errno));
    off_t offset = end_of_program(file);
    close(file);
    const char *asked = count > 1 ? words[1] : "";
    if (strcmp(asked, "--appimage-offset") == 0) return printf("%lld\n", (long long)offset) < 0;
    if (strcmp(asked, "--appimage-version") == 0) return printf("type 2, of rcv\n") < 0;
    if (strcmp(asked, "--appimage-extract") == 0) {
        if (mkdir("squashfs-root", 0755) != 0) die("squashfs-root cannot be made: %s.", strerror(errno));
        unpack(image, offset, "squashfs-root");
        return puts("squashfs-root") < 0;
    }
    unpacked(image, offset, folder);
    setenv("APPIMAGE", image, 1);
    setenv("APPDIR", folder, 1);
    setenv("ARGV0", words[0], 1);
    if (getcwd(here, sizeof here) != NULL) setenv("OWD", here, 1);
    join(program, "%s/AppRun", folder);
    execv(program, words);
    die("%s cannot be started: %s.", program, strerror(errno));
}
