/*
 * A program that asks the kernel alone: linked statically, it loads no library, so that neither
 * LD_PRELOAD nor a look-alike of a command is in its way. It tries to get out, and says what came
 * of each attempt: "yes", or the error.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void say(const char *what, int came)
{
    printf("%s: %s\n", what, came < 0 ? strerror(errno) : "yes");
}

/* The machine's loopback, and an address that would be the Internet's (RFC 5737: nobody's). */
static void reach_network(const char *port)
{
    const char *addresses[] = {"127.0.0.1", "192.0.2.1"};
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
        inet_pton(AF_INET, addresses[i], &to.sin_addr);
        say("network", connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to));
    }
}

/* A socket by its path, or by its abstract name if that begins with "@". */
static void reach_socket(const char *name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length >= sizeof to.sun_path)
        exit(2);
    memcpy(to.sun_path, name, length);
    if (name[0] == '@')
        to.sun_path[0] = 0;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    say("socket", connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, size));
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "network") && argc > 2)
        reach_network(argv[2]);
    for (int i = 2; i < argc && !strcmp(what, "socket"); i++)
        reach_socket(argv[i]);
    for (int i = 2; i < argc && !strcmp(what, "write"); i++)
        say("write", open(argv[i], O_WRONLY | O_CREAT, 0644));
    if (!strcmp(what, "kernel")) {
        say("reboot", reboot(RB_AUTOBOOT));
        say("mount", mount("none", "/tmp", "debugfs", 0, NULL));
        say("trace", (int)ptrace(PTRACE_ATTACH, 1, NULL, NULL));
    }
    if (!strcmp(what, "kill"))
        say("kill", kill(-1, SIGKILL));
    return 0;
}
