#include "overlay_host.h"

int overlay_found(const overlay_t *overlay, uint32_t rows, uint32_t columns) {
    return overlay->read(overlay->context, OVERLAY_ID) == OVERLAY_MAGIC &&
           overlay->read(overlay->context, OVERLAY_ARRAY) == (rows << 16 | columns);
}

void overlay_load(const overlay_t *overlay, const int32_t *words, uint32_t count) {
    for (uint32_t at = 0; at < count; ++at) overlay->dram[at] = words[at];
}

void overlay_put(const overlay_t *overlay, uint32_t address, const int8_t *map, uint32_t count) {
    for (uint32_t at = 0; at < count; ++at) overlay->dram[address + at] = map[at];
}

void overlay_get(const overlay_t *overlay, uint32_t address, int8_t *map, uint32_t count) {
    for (uint32_t at = 0; at < count; ++at) map[at] = (int8_t)overlay->dram[address + at];
}

int64_t overlay_run(const overlay_t *overlay, uint32_t stops, overlay_beside_t beside, void *user) {
    overlay->write(overlay->context, OVERLAY_CONTROL, OVERLAY_RESET);
    overlay->write(overlay->context, OVERLAY_CONTROL, OVERLAY_START);
    for (uint32_t stop = 0;; ++stop) {
        while (overlay->read(overlay->context, OVERLAY_STOPS) <= stop) {
        }
        if (stop + 1 >= stops) return overlay->read(overlay->context, OVERLAY_CYCLES);
        if (beside != 0 && beside(user, stop, overlay->dram) != 0) return -1;
        overlay->write(overlay->context, OVERLAY_CONTROL, OVERLAY_RESUME);
    }
}
