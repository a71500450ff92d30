/* New processes and threads wait for their turn.
 *
 * What several processes do at one moment of the run would be in the machine's order. So whoever is
 * new asks the simulator first, which answers when all others rest (chaos/lookalikes/waiting_line.py).
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/time.h>

#define MARK_S 200000000L

static void await_turn(void)
{
    int64_t thread = raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
    int waiting = clock_page() ? ask('n', &thread, sizeof thread) : -1;
    if (waiting < 0)
        return;
    struct pollfd file = {waiting, POLLIN, 0};
    while (raw(SYS_ppoll, (long)&file, 1, 0, 0, 8, 0) == -EINTR)
        ;
    raw(SYS_close, waiting, 0, 0, 0, 0, 0);
}

/* A process that has had its turn goes on when it becomes another program. It is marked by a timer
 * that does not go off in years: the only thing that a program hands on to the next one in its
 * process, and not to its children. */
static void mark(void)
{
    struct itimerval far = {{0, 0}, {MARK_S, 0}};
    raw(SYS_setitimer, ITIMER_VIRTUAL, (long)&far, 0, 0, 0, 0);
}

static int is_marked(void)
{
    struct itimerval left = {{0, 0}, {0, 0}};
    raw(SYS_getitimer, ITIMER_VIRTUAL, (long)&left, 0, 0, 0, 0);
    return left.it_value.tv_sec > MARK_S / 2;
}

static void begin_process(void)
{
    await_turn();
    mark();
}

/* Also where a process has come about without fork(2) of the C library: by vfork(2), say. */
__attribute__((constructor)) static void begin_program(void)
{
    if (!clock_page())
        return;
    pthread_atfork(0, 0, begin_process);
    if (!is_marked())
        begin_process();
}

struct thread {
    void *(*function)(void *);
    void *argument;
};

static void *begin_thread(void *given)
{
    struct thread thread = *(struct thread *)given;
    free(given);
    await_turn();
    return thread.function(thread.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict made,
                                                          const pthread_attr_t *restrict attributes,
                                                          void *(*function)(void *),
                                                          void *restrict argument)
{
    static int (*libc)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!libc)
        *(void **)&libc = dlsym(RTLD_NEXT, "pthread_create");
    struct thread *thread = clock_page() ? malloc(sizeof *thread) : 0;
    if (!thread)
        return libc(made, attributes, function, argument);
    *thread = (struct thread){function, argument};
    int error = libc(made, attributes, begin_thread, thread);
    if (error)
        free(thread);
    return error;
}
