/* A process that stands for one rank of a job: it shows the words and the environment that it was
 * given, uses nothing, and waits. It ends by a signal, or when its standard input ends, which its
 * node holds open.
 */
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char unused[64];

    if (argc > 0) {
        const char *slash = strrchr(argv[0], '/');
        prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]); /* the kernel cuts it to 15 characters */
    }
    while (read(0, unused, sizeof unused) > 0)
        ;
    return 0;
}
