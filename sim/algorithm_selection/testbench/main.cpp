// The host of the test bench: runs the overlay by its registers, as `overlay_host.c` does on a board, then has the test
// bench write what DRAM holds. Gives up after +cycles=N.
#include <cstdlib>
#include <cstring>

#include "Vtestbench.h"
#include "overlay_host.h"
#include "verilated.h"

namespace {
struct Bench {
    VerilatedContext context;
    Vtestbench *top;
    long long left;

    void cycle() {
        if (left-- <= 0 || context.gotFinish()) std::exit(3);
        for (int half = 0; half < 2; ++half) {
            top->clk = half;
            top->eval();
        }
    }
};

uint32_t read_register(void *given, uint32_t address) {
    Bench &bench = *static_cast<Bench *>(given);
    bench.top->host_address = address;
    bench.cycle();
    return bench.top->host_read_data;
}

void write_register(void *given, uint32_t address, uint32_t value) {
    Bench &bench = *static_cast<Bench *>(given);
    bench.top->host_address = address;
    bench.top->host_write_data = value;
    bench.top->host_write = 1;
    bench.cycle();
    bench.top->host_write = 0;
}
}  // namespace

int main(int count, char **words) {
    Bench bench;
    bench.context.commandArgs(count, words);
    const char *given = bench.context.commandArgsPlusMatch("cycles=");
    bench.left = (std::strlen(given) > 8 ? std::atoll(given + 8) : 1000000) + 16;
    Vtestbench top{&bench.context};
    bench.top = &top;
    top.reset = 1;
    bench.cycle();
    bench.cycle();
    top.reset = 0;
    const overlay_t overlay = {&bench, read_register, write_register, nullptr};
    overlay_run(&overlay, 1, nullptr, nullptr);
    top.finish = 1;
    bench.left = 4;
    bench.cycle();
    top.final();
    return 0;
}
