/* Lets the programs of a node live by the run's clock: preloaded into each (ld.so(8)) where a
 * runbook is rehearsed in virtual time, and nowhere else.
 *
 * It stands before the C library's functions that read clocks and wait for them. Whoever waits is
 * parked with the simulator; whoever reads a clock reads the run's. What is not done here is done
 * by this machine's clock, and a moment that was reckoned by the run's clock is converted for it.
 */
#define _GNU_SOURCE
#include "clock_park.h"
#include "clock_birth.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <linux/futex.h>

#define OURS __attribute__((visibility("default")))
#define LONGEST_SLICE_NS SECOND_NS
#define SLICES 16

static int64_t ns_of(const struct timespec *time)
{
    return time->tv_sec > INT64_MAX / SECOND_NS - 1 ? INT64_MAX
                                                    : time->tv_sec * SECOND_NS + time->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

static int is_time(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND_NS;
}

static int64_t read_ns(clockid_t clock)
{
    int64_t now = virtual_ns(clock);
    note_read(now);
    return now;
}

/* -- clocks ------------------------------------------------------------------------------------- */

OURS int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!is_virtual(clock))
        return (int)told(raw(SYS_clock_gettime, clock, (long)now, 0, 0, 0, 0));
    *now = timespec_of(read_ns(clock));
    return 0;
}

OURS int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    if (!is_virtual(CLOCK_REALTIME))
        return (int)told(raw(SYS_gettimeofday, (long)now, (long)zone, 0, 0, 0, 0));
    struct timespec precise = timespec_of(read_ns(CLOCK_REALTIME));
    *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    return 0;
}

OURS time_t time(time_t *now)
{
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now)
        *now = precise.tv_sec;
    return precise.tv_sec;
}

OURS int timespec_get(struct timespec *now, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

/* -- sleeping ----------------------------------------------------------------------------------- */

OURS int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                         struct timespec *left)
{
    if (is_virtual(clock) && is_time(time)) {
        int64_t began = virtual_ns(clock);
        int64_t until = flags & TIMER_ABSTIME ? ns_of(time) : 0;
        int64_t for_ns = flags & TIMER_ABSTIME ? until - began : ns_of(time);
        int before = errno;
        int done = wait_ns(for_ns);
        errno = before;
        if (done < 0 && left && !(flags & TIMER_ABSTIME)) {
            int64_t rest = began + for_ns - virtual_ns(clock);
            *left = timespec_of(rest > 0 ? rest : 0);
        }
        if (done <= 0)
            return done < 0 ? EINTR : 0;
        if (flags & TIMER_ABSTIME) {
            struct timespec real = as_real(time, clock);
            return (int)-raw(SYS_clock_nanosleep, is_calendar(clock) ? CLOCK_REALTIME
                             : CLOCK_MONOTONIC, flags, (long)&real, 0, 0, 0);
        }
    }
    return (int)-raw(SYS_clock_nanosleep, clock, flags, (long)time, (long)left, 0, 0);
}

OURS int nanosleep(const struct timespec *time, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

OURS unsigned sleep(unsigned seconds)
{
    struct timespec left = {0, 0}, time = {(time_t)seconds, 0};
    int before = errno;
    if (nanosleep(&time, &left) == 0) {
        errno = before;
        return 0;
    }
    return (unsigned)left.tv_sec + (left.tv_nsec > 0);
}

OURS int usleep(useconds_t us)
{
    struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
    return nanosleep(&time, 0);
}

OURS int thrd_sleep(const struct timespec *time, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, time, left);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

/* -- waiting for files, with a time-out --------------------------------------------------------- */

/* Wait for files or for a time; as poll(2), or -2: it is not possible. Signals are those of
 * `mask` meanwhile, if there is one. */
static int wait_for_files(struct pollfd *files, nfds_t count, int64_t for_ns, const sigset_t *mask)
{
    if (for_ns <= 0 || !clock_page() || count > 4096)
        return -2;
    int waiting = begin_wait(for_ns);
    if (waiting < 0)
        return -2;
    struct pollfd few[32], *all = count < 32 ? few : malloc((count + 1) * sizeof *all);
    if (!all) {
        end_wait(waiting);
        return -2;
    }
    memcpy(all, files, count * sizeof *all);
    all[count] = (struct pollfd){waiting, POLLIN, 0};
    long ready = mask ? told(raw(SYS_ppoll, (long)all, (long)count + 1, 0, (long)mask, 8, 0))
                      : block(all, count + 1);
    int error = errno;
    end_wait(waiting);
    if (ready >= 0) {
        ready -= all[count].revents != 0;
        for (nfds_t i = 0; i < count; i++)
            files[i].revents = all[i].revents;
    }
    if (all != few)
        free(all);
    errno = error;
    return (int)ready;
}

OURS int poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    int ready = timeout_ms > 0 ? wait_for_files(files, count, timeout_ms * MILLISECOND_NS, 0) : -2;
    if (ready != -2)
        return ready;
    if (timeout_ms < 0) {
        if (!libc_poll)
            *(void **)&libc_poll = dlsym(RTLD_NEXT, "poll");
        if (libc_poll)
            return libc_poll(files, count, timeout_ms);
    }
    struct timespec time = timespec_of(timeout_ms * MILLISECOND_NS);
    return (int)told(raw(SYS_ppoll, (long)files, (long)count,
                         timeout_ms < 0 ? 0 : (long)&time, 0, 8, 0));
}

OURS int ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
               const sigset_t *mask)
{
    int ready = time && is_time(time) ? wait_for_files(files, count, ns_of(time), mask) : -2;
    if (ready != -2)
        return ready;
    struct timespec copy = time ? *time : (struct timespec){0, 0};
    return (int)told(raw(SYS_ppoll, (long)files, (long)count, time ? (long)&copy : 0, (long)mask,
                         8, 0));
}

OURS int __poll_chk(struct pollfd *files, nfds_t count, int timeout_ms, size_t room)
{
    if (room / sizeof *files < count)
        abort();
    return poll(files, count, timeout_ms);
}

OURS int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *time,
                     const sigset_t *mask, size_t room)
{
    if (room / sizeof *files < count)
        abort();
    return ppoll(files, count, time, mask);
}

/* select(2) by way of poll(2), whose descriptors may have any number. */
static int select_for(int count, fd_set *reads, fd_set *writes, fd_set *others, int64_t for_ns,
                      const sigset_t *mask)
{
    struct pollfd files[FD_SETSIZE];
    nfds_t used = 0;
    if (for_ns <= 0 || count < 0 || count > FD_SETSIZE)
        return -2;
    for (int fd = 0; fd < count; fd++) {
        short events = (short)((reads && FD_ISSET(fd, reads) ? POLLIN : 0) |
                               (writes && FD_ISSET(fd, writes) ? POLLOUT : 0) |
                               (others && FD_ISSET(fd, others) ? POLLPRI : 0));
        if (events)
            files[used++] = (struct pollfd){fd, events, 0};
    }
    int ready = wait_for_files(files, used, for_ns, mask);
    if (ready < 0)
        return ready;
    int bits = 0;
    for (nfds_t i = 0; i < used; i++) {
        int fd = files[i].fd;
        short came = files[i].revents;
        if (came & POLLNVAL) {
            errno = EBADF;
            return -1;
        }
        if (files[i].events & POLLIN) {
            if (came & (POLLIN | POLLHUP | POLLERR))
                bits++;
            else
                FD_CLR(fd, reads);
        }
        if (files[i].events & POLLOUT) {
            if (came & (POLLOUT | POLLERR))
                bits++;
            else
                FD_CLR(fd, writes);
        }
        if (files[i].events & POLLPRI) {
            if (came & POLLPRI)
                bits++;
            else
                FD_CLR(fd, others);
        }
    }
    return bits;
}

OURS int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *time)
{
    if (time && clock_page() && time->tv_sec >= 0 && time->tv_usec >= 0) {
        int64_t began = virtual_ns(CLOCK_MONOTONIC);
        int64_t for_ns = time->tv_sec > INT64_MAX / SECOND_NS - 1
                             ? INT64_MAX / 2
                             : time->tv_sec * SECOND_NS + time->tv_usec * 1000LL;
        int ready = select_for(count, reads, writes, others, for_ns, 0);
        if (ready != -2) {
            int64_t left = began + for_ns - virtual_ns(CLOCK_MONOTONIC);
            left = left > 0 ? left : 0;
            *time = (struct timeval){left / SECOND_NS, left % SECOND_NS / 1000};
            return ready;
        }
    }
    struct timespec left = {0}, *limit = 0;
    if (time) {
        if (time->tv_sec < 0 || time->tv_usec < 0) {
            errno = EINVAL;
            return -1;
        }
        left = (struct timespec){time->tv_sec + time->tv_usec / 1000000,
                                 time->tv_usec % 1000000 * 1000};
        limit = &left;
    }
    int ready = (int)told(raw(SYS_pselect6, count, (long)reads, (long)writes, (long)others,
                              (long)limit, 0));
    if (time)
        *time = (struct timeval){left.tv_sec, left.tv_nsec / 1000};
    return ready;
}

OURS int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
                 const struct timespec *time, const sigset_t *mask)
{
    if (time && clock_page() && is_time(time)) {
        int ready = select_for(count, reads, writes, others, ns_of(time), mask);
        if (ready != -2)
            return ready;
    }
    struct timespec copy = time ? *time : (struct timespec){0, 0};
    struct {
        const sigset_t *mask;
        size_t size;
    } signals = {mask, 8};
    return (int)told(raw(SYS_pselect6, count, (long)reads, (long)writes, (long)others,
                         time ? (long)&copy : 0, (long)&signals));
}

/* A set of files is itself a file that can be waited for. */
static int epoll_for(int set, struct epoll_event *events, int most, int64_t for_ns,
                     const sigset_t *mask)
{
    struct pollfd file = {set, POLLIN, 0};
    int ready = wait_for_files(&file, 1, for_ns, mask);
    if (ready < 0)
        return ready;
    return (int)told(raw(SYS_epoll_pwait, set, (long)events, most, 0, 0, 8));
}

OURS int epoll_pwait(int set, struct epoll_event *events, int most, int timeout_ms,
                     const sigset_t *mask)
{
    int ready = timeout_ms > 0 ? epoll_for(set, events, most, timeout_ms * MILLISECOND_NS, mask)
                               : -2;
    return ready != -2 ? ready
                       : (int)told(raw(SYS_epoll_pwait, set, (long)events, most, timeout_ms,
                                       (long)mask, 8));
}

OURS int epoll_wait(int set, struct epoll_event *events, int most, int timeout_ms)
{
    return epoll_pwait(set, events, most, timeout_ms, 0);
}

OURS int epoll_pwait2(int set, struct epoll_event *events, int most, const struct timespec *time,
                      const sigset_t *mask)
{
    int64_t ms = time ? (ns_of(time) + MILLISECOND_NS - 1) / MILLISECOND_NS : -1;
    return epoll_pwait(set, events, most, ms > INT32_MAX ? INT32_MAX : (int)ms, mask);
}

/* -- alarms ------------------------------------------------------------------------------------- */

/* Have a SIGALRM sent by the run's clock; what was left of the one before. */
static int set_alarm(const int64_t wanted[2], int64_t before[2])
{
    int asked = clock_page() ? ask('t', wanted, 2 * sizeof *wanted) : -1;
    if (asked < 0)
        return -1;
    char reply[5 + 16];
    size_t length = 0;
    while (length < sizeof reply) {
        long got = raw(SYS_recvfrom, asked, (long)(reply + length), (long)(sizeof reply - length),
                       0, 0, 0);
        if (got <= 0 && got != -EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
    }
    end_wait(asked);
    if (length < sizeof reply)
        return -1;
    memcpy(before, reply + 5, 2 * sizeof *before);
    return 0;
}

static int64_t ns_of_timeval(const struct timeval *time)
{
    return time->tv_sec * SECOND_NS + time->tv_usec * 1000LL;
}

static struct timeval timeval_of(int64_t ns)
{
    return (struct timeval){ns / SECOND_NS, ns % SECOND_NS / 1000};
}

OURS int setitimer(__itimer_which_t which, const struct itimerval *restrict wanted,
                   struct itimerval *restrict before)
{
    if (which == ITIMER_REAL && wanted && clock_page()) {
        int64_t now[2] = {ns_of_timeval(&wanted->it_value), ns_of_timeval(&wanted->it_interval)};
        int64_t old[2];
        if (set_alarm(now, old) == 0) {
            if (before)
                *before = (struct itimerval){timeval_of(old[1]), timeval_of(old[0])};
            return 0;
        }
    }
    return (int)told(raw(SYS_setitimer, which, (long)wanted, (long)before, 0, 0, 0));
}

OURS int getitimer(__itimer_which_t which, struct itimerval *now)
{
    int64_t only_asks[2] = {-1, -1}, old[2];
    if (which == ITIMER_REAL && now && set_alarm(only_asks, old) == 0) {
        *now = (struct itimerval){timeval_of(old[1]), timeval_of(old[0])};
        return 0;
    }
    return (int)told(raw(SYS_getitimer, which, (long)now, 0, 0, 0, 0));
}

OURS unsigned alarm(unsigned seconds)
{
    struct itimerval wanted = {{0, 0}, {(time_t)seconds, 0}}, before = {{0, 0}, {0, 0}};
    if (setitimer(ITIMER_REAL, &wanted, &before) != 0)
        return 0;
    return (unsigned)before.it_value.tv_sec + (before.it_value.tv_usec > 0);
}

/* -- threads ------------------------------------------------------------------------------------ */

/* A semaphore cannot be waited for together with a clock: it is looked at ever so often. */
static int wait_for_semaphore(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    int64_t began = virtual_ns(clock), now;
    while (sem_trywait(semaphore) != 0) {
        if (errno != EAGAIN)
            return -1;
        now = virtual_ns(clock);
        if (now >= ns_of(until)) {
            errno = ETIMEDOUT;
            return -1;
        }
        int64_t slice = (now - began) / SLICES + MILLISECOND_NS;
        slice = slice > LONGEST_SLICE_NS ? LONGEST_SLICE_NS : slice;
        int64_t left = ns_of(until) - now;
        int done = wait_ns(slice < left ? slice : left);
        if (done < 0)
            return -1;
        if (done > 0)
            return 1;
    }
    return 0;
}

static void *libc_function(const char *name)
{
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (!found)
        found = dlvsym(RTLD_NEXT, name, "GLIBC_2.17");
    return found ? found : dlsym(RTLD_NEXT, name);
}

OURS int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    static int (*libc)(sem_t *, const struct timespec *);
    if (!libc)
        *(void **)&libc = libc_function("sem_timedwait");
    if (!is_virtual(CLOCK_REALTIME) || !is_time(until))
        return libc(semaphore, until);
    int done = wait_for_semaphore(semaphore, CLOCK_REALTIME, until);
    struct timespec real = as_real(until, CLOCK_REALTIME);
    return done <= 0 ? done : libc(semaphore, &real);
}

OURS int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                       const struct timespec *restrict until)
{
    static int (*libc)(sem_t *, clockid_t, const struct timespec *);
    if (!libc)
        *(void **)&libc = libc_function("sem_clockwait");
    if (!is_virtual(clock) || !is_time(until))
        return libc(semaphore, clock, until);
    int done = wait_for_semaphore(semaphore, clock, until);
    struct timespec real = as_real(until, clock);
    return done <= 0 ? done : libc(semaphore, clock, &real);
}

/* A condition's own clock cannot be asked for; a day of the calendar is no time since a boot. */
static clockid_t clock_of(const struct timespec *until)
{
    return until->tv_sec > 1000000000 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

OURS int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock,
                                const struct timespec *restrict until)
{
    static int (*libc)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!libc)
        *(void **)&libc = libc_function("pthread_cond_timedwait");
    if (!clock_page() || !is_time(until))
        return libc(condition, lock, until);
    struct timespec real = as_real(until, clock_of(until));
    return libc(condition, lock, &real);
}

OURS int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock,
                                clockid_t clock, const struct timespec *restrict until)
{
    static int (*libc)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    if (!libc)
        *(void **)&libc = libc_function("pthread_cond_clockwait");
    if (!is_virtual(clock) || !is_time(until))
        return libc(condition, lock, clock, until);
    struct timespec real = as_real(until, clock);
    return libc(condition, lock, clock, &real);
}

OURS int pthread_mutex_timedlock(pthread_mutex_t *restrict lock,
                                 const struct timespec *restrict until)
{
    static int (*libc)(pthread_mutex_t *, const struct timespec *);
    if (!libc)
        *(void **)&libc = libc_function("pthread_mutex_timedlock");
    if (!clock_page() || !is_time(until))
        return libc(lock, until);
    struct timespec real = as_real(until, CLOCK_REALTIME);
    return libc(lock, &real);
}

/* Some languages' own libraries wait by the system call itself. */
OURS long syscall(long number, ...)
{
    va_list rest;
    long a[6];
    struct timespec real;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_futex && a[3] && clock_page() &&
        (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) {
        int calendar = (a[1] & FUTEX_CLOCK_REALTIME) != 0;
        real = as_real((const struct timespec *)a[3], calendar ? CLOCK_REALTIME : CLOCK_MONOTONIC);
        a[3] = (long)&real;
    }
    return told(raw(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
