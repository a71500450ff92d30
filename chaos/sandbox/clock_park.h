/* The run's clock as a process of a node sees it, and how a thread waits for it.
 *
 * The simulator keeps the time in a page (chaos/lookalikes/clock_page.py), which stands still while
 * anything on the node runs. A thread waits by a connection of its own to the socket of the
 * look-alikes: it sends for how long, and hears when that time has come (chaos/lookalikes/wire.py).
 * Where one of the two is missing, nothing here does anything.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NODE "/run/gputui-node"
#define PAGE NODE "/clock/now"
#define SOCKET NODE "/commands.sock"
#define SECOND_NS 1000000000LL
#define MILLISECOND_NS 1000000LL
#define READS_OF_A_BUSY_LOOP 2000

struct page {
    int64_t realtime_ns, monotonic_ns;
};

static const volatile struct page *page;
static int looked_for_page;

/* -- system calls, past the C library, whose functions are ours here ---------------------------- */

static long raw(long number, long a, long b, long c, long d, long e, long f)
{
#if defined __x86_64__
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#else
#error "system calls of this machine are not known here"
#endif
}

/* A system call's result as the C library gives it. */
static long told(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static int64_t real_ns(clockid_t clock)
{
    struct timespec now = {0};
    raw(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* -- the clock ---------------------------------------------------------------------------------- */

static const volatile struct page *clock_page(void)
{
    if (!looked_for_page) {
        long file = raw(SYS_openat, AT_FDCWD, (long)PAGE, O_RDONLY | O_CLOEXEC, 0, 0, 0);
        if (file >= 0) {
            long at = raw(SYS_mmap, 0, sizeof *page, PROT_READ, MAP_SHARED, file, 0);
            raw(SYS_close, file, 0, 0, 0, 0, 0);
            if (at > 0 || at <= -4096)
                page = (const volatile struct page *)at;
        }
        looked_for_page = 1;
    }
    return page;
}

static int is_calendar(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

/* Whether a clock is the run's: those of processors are this machine's. */
static int is_virtual(clockid_t clock)
{
    return clock_page() && (is_calendar(clock) || clock == CLOCK_MONOTONIC ||
                            clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
                            clock == CLOCK_BOOTTIME);
}

static int64_t virtual_ns(clockid_t clock)
{
    return is_calendar(clock) ? clock_page()->realtime_ns : clock_page()->monotonic_ns;
}

/* A moment by the run's clock, as the same distance by this machine's. */
static struct timespec as_real(const struct timespec *at, clockid_t clock)
{
    int64_t left = at->tv_sec * SECOND_NS + at->tv_nsec - virtual_ns(clock);
    int64_t real = real_ns(is_calendar(clock) ? CLOCK_REALTIME : CLOCK_MONOTONIC) + left;
    if (real < 0)
        real = 0;
    return (struct timespec){real / SECOND_NS, real % SECOND_NS};
}

/* -- waiting ------------------------------------------------------------------------------------ */

static int (*libc_poll)(struct pollfd *, nfds_t, int);

/* The C library's own, at which a thread may be cancelled. */
static int block(struct pollfd *files, nfds_t count)
{
    if (!libc_poll)
        *(void **)&libc_poll = dlsym(RTLD_NEXT, "poll");
    if (libc_poll)
        return libc_poll(files, count, -1);
    return (int)told(raw(SYS_ppoll, (long)files, (long)count, 0, 0, 8, 0));
}

/* Ask the simulator for something; a connection, or -1. */
static int ask(char letter, const void *bytes, uint32_t length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
    char message[64];
    int before = errno;
    long asked = raw(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);
    if (asked < 0)
        return -1;
    message[0] = letter;
    memcpy(message + 1, &length, sizeof length);
    memcpy(message + 5, bytes, length);
    long done = raw(SYS_connect, asked, (long)&address, sizeof address, 0, 0, 0);
    if (done == 0)
        done = raw(SYS_sendto, asked, (long)message, 5 + (long)length, MSG_NOSIGNAL, 0, 0);
    if (done != 5 + (long)length) {
        raw(SYS_close, asked, 0, 0, 0, 0, 0);
        asked = -1;
    }
    errno = before;
    return (int)asked;
}

/* Have the simulator tell when a time is over: a descriptor that becomes readable then, or -1. */
static int begin_wait(int64_t for_ns)
{
    int64_t asked[2] = {for_ns, raw(SYS_gettid, 0, 0, 0, 0, 0, 0)};
    return clock_page() ? ask('z', asked, sizeof asked) : -1;
}

static void end_wait(int waiting)
{
    raw(SYS_close, waiting, 0, 0, 0, 0, 0);
}

/* Wait for so long by the run's clock: 0, or -1 for a signal; 1: it is not possible. */
static int wait_ns(int64_t for_ns)
{
    if (for_ns <= 0)
        return 0;
    int waiting = begin_wait(for_ns);
    if (waiting < 0)
        return 1;
    struct pollfd file = {waiting, POLLIN, 0};
    int ready = block(&file, 1);
    end_wait(waiting);
    return ready < 0 ? -1 : 0;
}

/* A program that asks for the time again and again waits for it to pass. */
static void note_read(int64_t now)
{
    static __thread int64_t seen;
    static __thread int reads;
    if (now != seen) {
        seen = now;
        reads = 0;
    } else if (++reads >= READS_OF_A_BUSY_LOOP) {
        int before = errno;
        reads = 0;
        wait_ns(10 * MILLISECOND_NS);
        errno = before;
    }
}
