/* How long one reading takes, in a program that reads nothing else: medians over batches, since the
 * clock's own cost is of the same size as a reading.
 *
 *     nvml_read [SECONDS]        prints nanoseconds: median, p99 and p99.9 of single readings
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);

enum { BATCH = 1000, BATCHES = 5000, SINGLES = 1000000 };

static double batches[BATCHES], singles[SINGLES];

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *one, const void *other)
{
    double first = *(const double *)one, second = *(const double *)other;
    return (first > second) - (first < second);
}

int main(void)
{
    void *device;
    unsigned milliwatts;
    int code = nvmlInit_v2();
    if (!code)
        code = nvmlDeviceGetHandleByIndex_v2(3, &device);
    if (!code)
        code = nvmlDeviceGetPowerUsage(device, &milliwatts);
    if (code) {
        fprintf(stderr, "nvml_read: NVML says %d\n", code);
        return 1;
    }
    usleep(300000); /* the first answer came over the socket; from now on the page has it */
    for (int i = 0; i < BATCHES; i++) {
        double began = now_ns();
        for (int k = 0; k < BATCH; k++)
            nvmlDeviceGetPowerUsage(device, &milliwatts);
        batches[i] = (now_ns() - began) / BATCH;
    }
    for (int i = 0; i < SINGLES; i++) {
        double began = now_ns();
        nvmlDeviceGetPowerUsage(device, &milliwatts);
        singles[i] = now_ns() - began;
    }
    qsort(batches, BATCHES, sizeof *batches, ascending);
    qsort(singles, SINGLES, sizeof *singles, ascending);
    printf("%.1f %.1f %.1f\n", batches[BATCHES / 2], singles[SINGLES / 100 * 99],
           singles[SINGLES / 1000 * 999]);
    return 0;
}
