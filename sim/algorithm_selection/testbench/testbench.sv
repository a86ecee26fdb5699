// Runs the overlay beside a DRAM: its words come from dram.hex and go to after.hex when the host says `finish`. What
// starts and ends when goes to cycles.txt: "s UNIT CYCLE" and "e UNIT CYCLE", and last "d CYCLE".
`include "parameters.svh"
module testbench #(
    parameter int DRAM_WORDS = 65536
) (
    input logic clk,
    input logic reset,
    input logic finish,
    input logic host_write,
    input logic [7:0] host_address,
    input logic [31:0] host_write_data,
    output logic [31:0] host_read_data
);
  localparam int LANES = 2 ** `OVERLAY_LOG_BANKS;
  localparam int LATENCY = `OVERLAY_DRAM_LATENCY;
  localparam int ADDRESS = $clog2(DRAM_WORDS);
  logic [31:0] dram[DRAM_WORDS];
  logic [31:0] read_address, write_address;
  logic [LATENCY*32-1:0] asked;
  logic [LANES*32-1:0] read_words, write_words;
  logic [LANES-1:0] write_lane;
  logic [3:0] started, busy, ran;
  logic read_enable, done, stopped;
  integer cycles, now;

  overlay_top machine (
      .clk, .reset, .host_write, .host_address, .host_write_data, .host_read_data, .dram_read_enable(read_enable), .dram_read_address(read_address),
      .dram_read_words(read_words), .dram_write_lane(write_lane), .dram_write_address(write_address),
      .dram_write_words(write_words), .started, .busy, .done
  );
  initial begin
    $readmemh("dram.hex", dram);
    cycles = $fopen("cycles.txt", "w");
  end
  // The word of an address is there LATENCY cycles later.
  for (genvar k = 0; k < LANES; k++) begin : gen_lane
    assign read_words[k*32+:32] = dram[ADDRESS'(asked[(LATENCY-1)*32+:32] + 32'(k))];
  end
  always_ff @(posedge clk) begin
    asked <= (32 * LATENCY)'({asked, read_address});
    for (int k = 0; k < LANES; k++)
      if (write_lane[k]) dram[ADDRESS'(write_address + 32'(k))] <= write_words[k*32+:32];
    now <= reset || machine.held ? 0 : now + 1;
    ran <= reset || machine.held ? '0 : busy;
    for (int k = 0; k < 4; k++) begin
      if (!reset && started[k]) $fwrite(cycles, "s %0d %0d\n", k, now);
      if (!reset && ran[k] && !busy[k]) $fwrite(cycles, "e %0d %0d\n", k, now);
    end
    stopped <= done;
    if (!reset && done && !stopped) $fwrite(cycles, "d %0d\n", now);
    if (finish) begin
      $writememh("after.hex", dram);
      $fclose(cycles);
      $finish;
    end
  end
  logic unused;
  assign unused = read_enable;
endmodule
