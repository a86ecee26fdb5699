// What a host sees of the overlay: registers of 32 bits on a bus of byte addresses, an access a cycle, read data in the
// next one. `host/overlay_host.h` names them.
//
//   0x00 ID (read)         4D 41 50 32
//   0x04 CONTROL (write)   1 starts from the first instruction, 2 goes on after a stop, 4 resets
//   0x08 STATUS (read)     bit 0: stopped; bit 1: running; bits 7 to 4: units that are busy
//   0x0C CYCLES (read)     since the start, stops left out
//   0x10 STOPS (read)      so far
//   0x14 ARRAY (read)      rows of PEs in the high half, columns in the low one
//   0x18 LANES (read)
module registers #(
    parameter int P1 = 4,
    parameter int P2 = 4,
    parameter int LANES = 4
) (
    input logic clk,
    input logic reset,
    input logic write,
    input logic [7:0] address,
    input logic [31:0] write_data,
    output logic [31:0] read_data,
    output logic held,
    output logic resume,
    input logic [3:0] busy,
    input logic done
);
  localparam logic [31:0] ID = 32'h4D41_5032;
  logic running, stopped;
  logic [31:0] cycles, stops;
  assign held = !running;
  logic unused;
  assign unused = ^write_data[31:3];
  always_ff @(posedge clk) begin
    stopped <= done;
    resume <= 1'b0;
    if (reset || (write && address == 8'h04 && write_data[2])) begin
      running <= 1'b0;
      cycles <= '0;
      stops <= '0;
    end else begin
      if (write && address == 8'h04 && write_data[0]) begin
        running <= 1'b1;
        cycles <= '0;
        stops <= '0;
      end else begin
        if (running && !done) cycles <= cycles + 1;
        if (running && done && !stopped) stops <= stops + 1;
      end
      if (write && address == 8'h04 && write_data[1]) resume <= 1'b1;
    end
    case (address)
      8'h00: read_data <= ID;
      8'h08: read_data <= {24'd0, busy, 2'd0, running, running && done};
      8'h0C: read_data <= cycles;
      8'h10: read_data <= stops;
      8'h14: read_data <= {16'(P1), 16'(P2)};
      8'h18: read_data <= 32'(LANES);
      default: read_data <= '0;
    endcase
  end
endmodule
