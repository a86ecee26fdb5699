/* The host's side of an overlay that `mapper generate` wrote: registers, and running a network whose image lies in the
 * overlay's DRAM. Whoever includes this says how registers and DRAM are reached. */
#ifndef OVERLAY_HOST_H
#define OVERLAY_HOST_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers, by byte address (rtl/registers.sv). */
enum {
    OVERLAY_ID = 0x00,      /* read: OVERLAY_MAGIC */
    OVERLAY_CONTROL = 0x04, /* write: OVERLAY_START, OVERLAY_RESUME, OVERLAY_RESET */
    OVERLAY_STATUS = 0x08,  /* read: OVERLAY_STOPPED, OVERLAY_RUNNING, busy units from bit 4 on */
    OVERLAY_CYCLES = 0x0C,  /* read: since the start, stops left out */
    OVERLAY_STOPS = 0x10,   /* read: so far */
    OVERLAY_ARRAY = 0x14,   /* read: rows << 16 | columns */
    OVERLAY_LANES = 0x18    /* read: words that DRAM reads and writes at once */
};
enum { OVERLAY_START = 1, OVERLAY_RESUME = 2, OVERLAY_RESET = 4 };
enum { OVERLAY_STOPPED = 1, OVERLAY_RUNNING = 2 };
#define OVERLAY_MAGIC 0x4D415032u

typedef struct {
    void *context; /* handed to all three */
    uint32_t (*read)(void *context, uint32_t address);
    void (*write)(void *context, uint32_t address, uint32_t value);
    int32_t *dram; /* the overlay's words, mapped: a number each */
} overlay_t;

/* What the host computes at a stop, between the overlay's words: 0 if that went well. */
typedef int (*overlay_beside_t)(void *user, uint32_t stop, int32_t *dram);

/* Whether there is an overlay of rows x columns PEs behind the registers. */
int overlay_found(const overlay_t *overlay, uint32_t rows, uint32_t columns);
/* Words of an image (dram.bin), one after another from the first address on. */
void overlay_load(const overlay_t *overlay, const int32_t *words, uint32_t count);
/* An 8-bit map, position by position and channel by channel, from `address` on, and back. */
void overlay_put(const overlay_t *overlay, uint32_t address, const int8_t *map, uint32_t count);
void overlay_get(const overlay_t *overlay, uint32_t address, int8_t *map, uint32_t count);
/* Runs all: at each of `stops` stops but the last, `beside` is called. The cycles, or -1 if `beside` failed. */
int64_t overlay_run(const overlay_t *overlay, uint32_t stops, overlay_beside_t beside, void *user);

#ifdef __cplusplus
}
#endif
#endif
