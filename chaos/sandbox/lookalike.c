/* Stands for a command of a fake node: it hands the call over to the simulator, and does what comes
 * back. It knows nothing of any command; it is there under every name that the simulator answers to.
 *
 * The simulator is found beside the program's own directory, or at a fixed place, never by the
 * environment. A message is a letter, a length (4 bytes, the machine's order) and so many bytes
 * (chaos/lookalikes/wire.py has the list).
 *
 * Signals do to this process what they do to any other; the simulator sees the connection end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOCKET "commands.sock"
#define FIXED_DIRECTORY "/run/gputui-node"
#define NOT_ANSWERED 125
#define PATH_BYTES 4096
#define CHUNK 65536

extern char **environ;

static const char *name = "";

static void give_up(const char *why)
{
    fprintf(stderr, "%s: %s\n", name, why);
    exit(NOT_ANSWERED);
}

/* -- finding the simulator --------------------------------------------------------------------- */

/* This program's file, under the name that it was started by; "" if that cannot be told. */
static void find_own_file(char *path, size_t room)
{
    ssize_t length = readlink("/proc/self/exe", path, room - 1);
    path[length > 0 ? length : 0] = 0;
}

/* A socket's address is short, a directory's path may be long: so it is reached through a
 * descriptor. */
static int connect_in(const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int asked = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" SOCKET, folder);
    if (folder < 0 || asked < 0 || connect(asked, (struct sockaddr *)&address, sizeof address) != 0) {
        close(asked);
        asked = -1;
    }
    close(folder);
    return asked;
}

static int connect_to_simulator(void)
{
    char own[PATH_BYTES];
    find_own_file(own, sizeof own);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(own, '/');
        if (slash)
            *slash = 0;
    }
    int asked = connect_in(own);
    return asked >= 0 ? asked : connect_in(FIXED_DIRECTORY);
}

/* -- what is sent ------------------------------------------------------------------------------ */

struct buffer {
    char *bytes;
    size_t length, room;
};

static void append(struct buffer *to, const void *bytes, size_t length)
{
    if (to->length + length > to->room) {
        to->room = 2 * (to->length + length);
        to->bytes = realloc(to->bytes, to->room);
        if (!to->bytes)
            give_up("out of memory");
    }
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void append_message(struct buffer *to, char letter, const void *bytes, size_t length)
{
    uint32_t size = (uint32_t)length;
    append(to, &letter, 1);
    append(to, &size, sizeof size);
    append(to, bytes, length);
}

/* Words, each with a zero byte after it. */
static void append_words(struct buffer *to, char letter, char **words)
{
    struct buffer joined = {0};
    for (; *words; words++)
        append(&joined, *words, strlen(*words) + 1);
    append_message(to, letter, joined.bytes ? joined.bytes : "", joined.length);
    free(joined.bytes);
}

static int send_all(int asked, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(asked, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return 0;
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        }
    }
    return 1;
}

static void send_call(int asked, char **argv)
{
    struct buffer call = {0};
    struct winsize window = {0};
    char here[PATH_BYTES], own[PATH_BYTES];
    uint16_t columns = 0;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
        columns = window.ws_col;
    if (!getcwd(here, sizeof here))
        strcpy(here, "/");
    append_words(&call, 'a', argv);
    append_words(&call, 'e', environ);
    append_message(&call, 'd', here, strlen(here));
    find_own_file(own, sizeof own);
    append_message(&call, 'f', own, strlen(own));
    append_message(&call, 'w', &columns, sizeof columns);
    append_message(&call, 'g', "", 0);
    if (!send_all(asked, call.bytes, call.length))
        give_up("the fake node does not take calls any more");
    free(call.bytes);
}

/* What standard input has; nothing, if it is at its end. */
static void send_input(int asked)
{
    static char bytes[CHUNK];
    struct buffer input = {0};
    ssize_t length;
    do
        length = read(STDIN_FILENO, bytes, sizeof bytes);
    while (length < 0 && errno == EINTR);
    append_message(&input, 'i', bytes, length > 0 ? (size_t)length : 0);
    send_all(asked, input.bytes, input.length); /* who hung up is noticed by reading */
    free(input.bytes);
}

/* -- what comes back --------------------------------------------------------------------------- */

static void receive(int asked, void *bytes, size_t length)
{
    char *to = bytes;
    while (length > 0) {
        ssize_t received = recv(asked, to, length, 0);
        if (received == 0 || (received < 0 && errno != EINTR))
            give_up("the fake node has ended");
        if (received > 0) {
            to += received;
            length -= (size_t)received;
        }
    }
}

/* A pipe that nobody reads ends us by SIGPIPE, as it would any command. */
static void write_all(int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, bytes, length);
        if (written < 0 && errno == EAGAIN) {
            struct pollfd full = {descriptor, POLLOUT, 0};
            poll(&full, 1, -1);
        } else if (written < 0 && errno != EINTR) {
            return; /* a full disk, or a closed descriptor: the command goes on */
        }
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
}

/* -- other programs ---------------------------------------------------------------------------- */

static pid_t child;
static int ended[2] = {-1, -1};

/* Words as they came: each with a zero byte after it. */
static char **split(char *bytes, uint32_t length)
{
    size_t count = 0;
    for (uint32_t i = 0; i < length; i++)
        count += bytes[i] == 0;
    char **words = calloc(count + 1, sizeof *words);
    if (!words)
        give_up("out of memory");
    for (size_t i = 0; i < count; i++, bytes += strlen(bytes) + 1)
        words[i] = bytes;
    return words;
}

static char **receive_words(int asked, uint32_t length)
{
    char *bytes = calloc(1, (size_t)length + 1);
    if (!bytes)
        give_up("out of memory");
    receive(asked, bytes, length);
    return split(bytes, length);
}

/* Become another program. What cannot be run is said as a shell says it. */
static void become(char **words)
{
    execvp(words[0], words);
    fprintf(stderr, "%s: failed to run command '%s': %s\n", name, words[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Be of another user and group, and of no other group. */
static void change_user(uint32_t user, uint32_t group)
{
    if (setgroups(0, NULL) == 0 && setgid(group) == 0 && setuid(user) == 0)
        return;
    fprintf(stderr, "%s: unable to change to runas uid (%u, %u): %s\n", name, user, user,
            strerror(errno));
    _exit(1);
}

static void note_end(int number)
{
    int before = errno;
    (void)number;
    if (write(ended[1], "", 1) < 0)
        errno = before;
    errno = before;
}

static void pass_on(int number)
{
    if (child > 0)
        kill(child, number);
}

/* Start another program, and learn of its end by a byte in a pipe. */
static void start(char **words)
{
    if (pipe2(ended, O_CLOEXEC | O_NONBLOCK) != 0)
        give_up("there are too many open files");
    signal(SIGCHLD, note_end);
    child = fork();
    if (child < 0)
        give_up("another process cannot be started");
    if (child == 0) {
        signal(SIGCHLD, SIG_DFL);
        become(words);
    }
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
    signal(SIGINT, pass_on);
}

/* The other program may have ended: its exit status, or 128 and the signal's number. */
static void send_end(int asked)
{
    char drained[16];
    int status;
    struct buffer told = {0};
    while (read(ended[0], drained, sizeof drained) > 0)
        ;
    if (child <= 0 || waitpid(child, &status, WNOHANG) != child)
        return;
    child = 0;
    int32_t code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    append_message(&told, 'c', &code, sizeof code);
    send_all(asked, told.bytes, told.length);
    free(told.bytes);
}

int main(int argc, char **argv)
{
    static char bytes[CHUNK];
    int wants_input = 0;

    if (argc > 0) {
        const char *slash = strrchr(argv[0], '/');
        name = slash ? slash + 1 : argv[0];
    }
    int asked = connect_to_simulator();
    if (asked < 0)
        give_up("there is no fake node here that answers");
    send_call(asked, argv);
    for (;;) {
        struct pollfd waiting[] = {{asked, POLLIN, 0},
                                   {wants_input ? STDIN_FILENO : -1, POLLIN, 0},
                                   {ended[0], POLLIN, 0}};
        if (poll(waiting, 3, -1) < 0)
            continue;
        if (waiting[2].revents)
            send_end(asked);
        if (waiting[1].revents) {
            wants_input = 0;
            send_input(asked);
        }
        if (!waiting[0].revents)
            continue;
        char letter;
        uint32_t length;
        receive(asked, &letter, 1);
        receive(asked, &length, sizeof length);
        while (length > 0 && (letter == 'o' || letter == 'p')) {
            size_t part = length < sizeof bytes ? length : sizeof bytes;
            receive(asked, bytes, part);
            write_all(letter == 'o' ? STDOUT_FILENO : STDERR_FILENO, bytes, part);
            length -= (uint32_t)part;
        }
        if (letter == 'r')
            wants_input = 1;
        if (letter == 'b')
            become(receive_words(asked, length));
        if (letter == 's')
            start(receive_words(asked, length));
        if (letter == 'k') {
            int32_t number;
            receive(asked, &number, sizeof number);
            pass_on(number);
        }
        if (letter == 'u') {
            uint32_t numbers[2];
            receive(asked, numbers, sizeof numbers);
            change_user(numbers[0], numbers[1]);
        }
        if (letter == 'x') {
            int32_t status;
            receive(asked, &status, sizeof status);
            return status;
        }
    }
}
