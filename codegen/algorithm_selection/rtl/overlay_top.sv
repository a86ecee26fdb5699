// The overlay with the registers of its host. DRAM is outside, as in `overlay`.
`include "parameters.svh"

module overlay_top #(
    parameter int LOG_BANKS = `OVERLAY_LOG_BANKS
) (
    input logic clk,
    input logic reset,
    input logic host_write,
    input logic [7:0] host_address,
    input logic [31:0] host_write_data,
    output logic [31:0] host_read_data,
    output logic dram_read_enable,
    output logic [31:0] dram_read_address,
    input logic [2**LOG_BANKS*32-1:0] dram_read_words,
    output logic [2**LOG_BANKS-1:0] dram_write_lane,
    output logic [31:0] dram_write_address,
    output logic [2**LOG_BANKS*32-1:0] dram_write_words,
    output logic [3:0] started,
    output logic [3:0] busy,
    output logic done
);
  logic held, resume;
  registers #(
      .P1(`OVERLAY_P1),
      .P2(`OVERLAY_P2),
      .LANES(2 ** LOG_BANKS)
  ) host (
      .clk, .reset, .write(host_write), .address(host_address), .write_data(host_write_data),
      .read_data(host_read_data), .held, .resume, .busy, .done
  );
  overlay machine (
      .clk, .reset(reset || held), .resume, .dram_read_enable, .dram_read_address, .dram_read_words,
      .dram_write_lane, .dram_write_address, .dram_write_words, .started, .busy, .done
  );
endmodule
