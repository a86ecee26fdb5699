"""The C that every array's program has: structures (``array.h``), code of a PE (``pe.c``), the driver (``array.c``)."""

from __future__ import annotations

HEADER = """\
/* Strides, addresses: words. */
enum action { LOAD, STORE, CLEAR };

struct dim { long count, larger, smaller; }; /* count, words between neighbours in the larger and smaller memory */

/* DMA: pass of the scratch-pad before whose work it is done, action, operand, half of the scratch-pad, first word in
   DRAM and scratch-pad, bytes, bursts, dimensions. CLEAR moves nothing: the tile begins at zero. */
struct transfer { long pass; enum action action; int operand, buffer; long dram, spm, bytes, bursts;
                  struct dim dims[RANK]; };

/* Networks: pass of the register files, action, operand, first word in its scratch-pad tile; whether it has not come
   before, whether PEs hold a part of it, whether it comes and goes with the scratch-pad tile alone. */
struct move { long pass; enum action action; int operand; long spm; int first, follows, kept; };

/* PE: number, row, column, the PE that gathers its sums, where its own tiles begin within the array's. */
struct pe { long number, row, column, leader, offset[OPERANDS]; };

/* Operand in a register file: words, where its box begins in scratch-pad and register file, the box, the same of the
   words that iterations name, and the shift of a tile that follows. */
struct layout { long words, box_at[2]; struct dim box[RANK]; long touched_at[2]; struct dim touched[RANK];
                long shift[RANK]; };

/* Loop of a register-file pass: count, words that it moves each operand by. */
struct loop { long count, stride[OPERANDS]; };

extern const struct pe pes[PES];
extern const struct layout layouts[OPERANDS];
extern const struct loop loops[];

void pe_load(const struct pe *self, const struct move *move, const int64_t *tile, int zero);
void pe_run(const struct pe *self);
void pe_hand_on(const struct pe *self);
void pe_store(const struct pe *self, const struct move *move, int64_t *tile);
"""

PE = """\
/* The program of one PE, whose line in pe.inc says where it stands and which words are its own. */
#include <string.h>

#include "array.h"

const struct pe pes[PES] = {
#include "pe.inc"
};
const struct layout layouts[OPERANDS] = {
#include "layout.inc"
};
const struct loop loops[LOOPS + 1] = {
#include "loop.inc"
};

static int64_t rf[PES][OPERANDS][RF_WORDS];

/* The next words of a box: false after the last. */
static int next(const struct dim *dims, long *at, long *larger, long *smaller)
{
    for (int d = RANK - 1; d >= 0; d--) {
        if (dims[d].count == 0)
            continue;
        *larger += dims[d].larger;
        *smaller += dims[d].smaller;
        if (++at[d] < dims[d].count)
            return 1;
        *larger -= at[d] * dims[d].larger;
        *smaller -= at[d] * dims[d].smaller;
        at[d] = 0;
    }
    return 0;
}

/* Whether the tile before it has the word at this place of a box. */
static int held(const struct layout *layout, const long *at)
{
    for (int d = 0; d < RANK; d++)
        if (layout->box[d].count
            && (at[d] + layout->shift[d] < 0 || at[d] + layout->shift[d] >= layout->box[d].count))
            return 0;
    return 1;
}

void pe_load(const struct pe *self, const struct move *move, const int64_t *tile, int zero)
{
    const struct layout *layout = &layouts[move->operand];
    int64_t *own = rf[self->number][move->operand];
    static int64_t before[RF_WORDS];
    long at[RANK] = {0}, shift = 0;
    long from = self->offset[move->operand] + move->spm + layout->box_at[0], to = layout->box_at[1];

    if (zero || (move->operand == WRITTEN && self->leader != self->number)) {
        memset(own, 0, sizeof rf[0][0]);
        return;
    }
    memcpy(before, own, sizeof before);
    for (int d = 0; d < RANK; d++)
        shift += layout->shift[d] * layout->box[d].smaller;
    do
        own[to] = move->follows && held(layout, at) ? before[to + shift] : tile[from];
    while (next(layout->box, at, &from, &to));
}

void pe_run(const struct pe *self)
{
    long at[LOOPS + 1] = {0}, place[OPERANDS];
    for (int k = 0; k < OPERANDS; k++)
        place[k] = layouts[k].touched_at[1];
    for (;;) {
        int d = LOOPS - 1;
        STATEMENT
        for (; d >= 0; d--) {
            for (int k = 0; k < OPERANDS; k++)
                place[k] += loops[d].stride[k];
            if (++at[d] < loops[d].count)
                break;
            for (int k = 0; k < OPERANDS; k++)
                place[k] -= at[d] * loops[d].stride[k];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}

void pe_hand_on(const struct pe *self)
{
    for (long n = 0; UPDATED && self->leader != self->number && n < layouts[WRITTEN].words; n++)
        rf[self->leader][WRITTEN][n] = add(rf[self->leader][WRITTEN][n], rf[self->number][WRITTEN][n]);
}

void pe_store(const struct pe *self, const struct move *move, int64_t *tile)
{
    const struct layout *layout = &layouts[WRITTEN];
    long at[RANK] = {0}, to = self->offset[WRITTEN] + move->spm + layout->touched_at[0], from = layout->touched_at[1];
    if (self->leader != self->number)
        return;
    do
        tile[to] = rf[self->number][WRITTEN][from];
    while (next(layout->touched, at, &to, &from));
}
"""

ARRAY = """\
static const struct transfer transfers[TRANSFERS] = {
#include "dma.inc"
};
static const struct move moves[MOVES] = {
#include "noc.inc"
};

static int64_t spm[SPM_WORDS];
static long base[OPERANDS], begun[OPERANDS];

/* One DMA transfer, dimension by dimension. */
static void dma(const struct transfer *transfer, void *const *dram, int depth, long larger, long smaller)
{
    if (depth < RANK && transfer->dims[depth].count) {
        const struct dim *dim = &transfer->dims[depth];
        for (long n = 0; n < dim->count; n++)
            dma(transfer, dram, depth + 1, larger + n * dim->larger, smaller + n * dim->smaller);
    } else if (transfer->action == STORE) {
        ((int64_t *)dram[WRITTEN])[larger] = spm[smaller];
    } else if (transfer->action == CLEAR) {
        spm[smaller] = 0;
    } else {
        spm[smaller] = transfer->operand == WRITTEN ? ((int64_t *)dram[WRITTEN])[larger]
                                                     : ((int32_t *)dram[transfer->operand])[larger];
    }
}

/* The move is done in this pass of the scratch-pad: what is kept comes with its tile, and goes before it. */
static int due(const struct move *move, long pass, long next)
{
    if (!move->kept)
        return 1;
    if (move->action == LOAD)
        return begun[move->operand] == pass;
    for (long n = next; n < TRANSFERS && transfers[n].pass == pass + 1; n++)
        if (transfers[n].action == STORE)
            return 1;
    return 0;
}

static void run(void *const *dram)
{
    int cleared = 0;
    long next = 0;
    for (long pass = 0; pass <= PASSES; pass++) {
        for (; next < TRANSFERS && transfers[next].pass == pass; next++) {
            const struct transfer *transfer = &transfers[next];
            dma(transfer, dram, 0, transfer->dram, transfer->spm);
            if (transfer->action == STORE)
                continue;
            base[transfer->operand] = transfer->spm;
            begun[transfer->operand] = pass;
            if (transfer->operand == WRITTEN)
                cleared = transfer->action == CLEAR;
        }
        for (long move = 0, turn = 0; pass < PASSES && turn < TURNS; turn++) {
            for (; move < MOVES && moves[move].pass == turn && moves[move].action == LOAD; move++) {
                const struct move *one = &moves[move];
                const int zero = one->operand == WRITTEN && one->first && cleared && begun[WRITTEN] == pass;
                for (long n = 0; n < PES && due(one, pass, next); n++)
                    pe_load(&pes[n], one, spm + base[one->operand], zero);
            }
            for (long n = 0; n < PES; n++)
                pe_run(&pes[n]);
            for (; move < MOVES && moves[move].pass == turn; move++) {
                if (!due(&moves[move], pass, next))
                    continue;
                for (long n = 0; n < PES; n++)
                    pe_hand_on(&pes[n]);
                for (long n = 0; n < PES; n++)
                    pe_store(&pes[n], &moves[move], spm + base[WRITTEN]);
            }
        }
    }
}
"""
