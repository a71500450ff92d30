/* The socket beside the page: one request, one reply, each a message of its own.
 *
 * Every thread has a connection, opened when it first asks. It is handed on when the thread ends,
 * not closed: by a process's last connection the simulator knows that the process has ended, and
 * frees its event sets. After fork() the child opens its own, and leaves its parent's open, so
 * that what the parent made lasts as long as either. A program that closed the descriptor behind
 * our back (daemons close everything) may have reused its number: it is recognised by its inode.
 */
#define _GNU_SOURCE
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LIFE_CHECK_MS 200

struct connection {
    int fd, asking;
    unsigned forks;
    dev_t dev;
    ino_t ino;
    struct connection *next;
};

static unsigned forks; /* how many forks lie between this process and the first */
static struct connection *idle; /* of threads that have ended; under library_lock */
static pthread_key_t connections;
static pthread_once_t connections_once = PTHREAD_ONCE_INIT;
static int connections_usable;

/* Called in the child of every fork(). */
void wire_forked(void)
{
    forks++;
    idle = 0;
}

static int is_open(const struct connection *connection)
{
    struct stat status;
    return connection->fd >= 0 && fstat(connection->fd, &status) == 0 &&
           status.st_dev == connection->dev && status.st_ino == connection->ino;
}

static void hang_up(struct connection *connection)
{
    if (is_open(connection))
        close(connection->fd);
    connection->fd = -1;
}

static void at_thread_exit(void *value)
{
    struct connection *connection = value;
    if (connection->asking)
        hang_up(connection); /* cancelled in a question: nobody must get its answer */
    pthread_mutex_lock(&library_lock);
    connection->next = idle;
    idle = connection;
    pthread_mutex_unlock(&library_lock);
}

static void make_key(void)
{
    connections_usable = pthread_key_create(&connections, at_thread_exit) == 0;
}

static struct connection *idle_or_new(void)
{
    pthread_mutex_lock(&library_lock);
    struct connection *connection = idle;
    if (connection)
        idle = connection->next;
    pthread_mutex_unlock(&library_lock);
    if (!connection && (connection = calloc(1, sizeof *connection)))
        connection->fd = -1;
    return connection;
}

static struct connection *mine(void)
{
    pthread_once(&connections_once, make_key);
    if (!connections_usable)
        return 0;
    struct connection *connection = pthread_getspecific(connections);
    if (!connection) {
        connection = idle_or_new();
        if (!connection)
            return 0;
        if (pthread_setspecific(connections, connection) != 0) {
            free(connection);
            return 0;
        }
    }
    return connection;
}

/* A socket's path may have 107 characters; a longer one is reached through its directory. */
static int connect_to(int fd, const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fits = snprintf(address.sun_path, sizeof address.sun_path, "%s/nvml.sock", directory);
    int held = -1;
    if (fits < 0 || (size_t)fits >= sizeof address.sun_path) {
        held = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (held < 0)
            return -1;
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/nvml.sock", held);
    }
    int done;
    do
        done = connect(fd, (const struct sockaddr *)&address, sizeof address);
    while (done != 0 && errno == EINTR);
    if (held >= 0)
        close(held);
    return done;
}

static int dial(struct connection *connection)
{
    struct stat status;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect_to(fd, page_directory()) != 0 || fstat(fd, &status) != 0) {
        close(fd);
        return -1;
    }
    connection->fd = fd;
    connection->forks = forks;
    connection->dev = status.st_dev;
    connection->ino = status.st_ino;
    return 0;
}

static int send_whole(int fd, const uint8_t *request, size_t length)
{
    ssize_t sent;
    do
        sent = send(fd, request, length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)length ? 0 : -1;
}

/* Wait for the reply. A simulator that dies closes its end; but a child that it forked may hold a
 * copy of it open, so its sign of life is looked at now and then as well. */
static ssize_t receive(const struct view *view, int fd, uint8_t *room)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    for (;;) {
        int ready = poll(&readable, 1, LIFE_CHECK_MS);
        if (ready > 0) {
            ssize_t got = recv(fd, room, MESSAGE_LIMIT, 0);
            if (got >= 0 || errno != EINTR)
                return got;
        } else if (ready < 0 && errno != EINTR) {
            return -1;
        } else if (!page_alive(view)) {
            return -1;
        }
    }
}

/* Ask the simulator; `room` has MESSAGE_LIMIT bytes. SUCCESS if there is a reply, UNKNOWN if
 * nobody answers. */
int wire_ask(const struct view *view, const uint8_t *request, size_t length, uint8_t *room,
             struct reply *reply)
{
    struct connection *connection = mine();
    if (!connection)
        return UNKNOWN;
    if (connection->forks != forks)
        connection->fd = -1;
    else if (connection->asking)
        hang_up(connection);
    connection->asking = 1;
    int fresh = !is_open(connection);
    if (fresh && dial(connection) != 0)
        return UNKNOWN;
    if (send_whole(connection->fd, request, length) != 0) {
        hang_up(connection);
        /* A connection that stood idle may have ended with an earlier simulator. */
        if (fresh || dial(connection) != 0)
            return UNKNOWN;
        if (send_whole(connection->fd, request, length) != 0) {
            hang_up(connection);
            return UNKNOWN;
        }
    }
    ssize_t got = receive(view, connection->fd, room);
    connection->asking = 0;
    if (got < 8) {
        hang_up(connection);
        return UNKNOWN;
    }
    int32_t code;
    memcpy(&code, room, 4);
    reply->code = code;
    reply->length = (uint32_t)got - 8;
    reply->outputs = room + 8;
    return SUCCESS;
}
