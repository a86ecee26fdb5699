// Linear transform modules (Section 3.1), one a lane: each collects a tile from its lane of a stream, transforms
// it, and streams it out while the next one is collected. Whoever feeds them leaves a gap where more words go
// out than come in. KIND: 1 input, 2 kernel, 3 output transform.
module linear_transform #(
    parameter int LANES = 4,
    parameter int WIDTH = 32,
    parameter int KIND  = 1
) (
    input logic clk,
    input logic start,
    input logic valid,
    input logic [LANES-1:0][WIDTH-1:0] words,
    output logic out_valid,
    output logic [LANES-1:0][WIDTH-1:0] out_words
);
  localparam int TAKEN = KIND == 2 ? 9 : 16;
  localparam int GIVEN = KIND == 3 ? 4 : 16;
  logic [4:0] taken, left;
  logic full;
  assign full = valid && taken == 5'(TAKEN - 1);
  assign out_valid = left != 0;
  always_ff @(posedge clk) begin
    if (start) begin
      taken <= '0;
      left <= '0;
    end else begin
      if (valid) taken <= full ? '0 : taken + 1;
      if (full) left <= 5'(GIVEN);
      else if (left != 0) left <= left - 1;
    end
  end

  for (genvar k = 0; k < LANES; k++) begin : gen_lane
    logic [TAKEN-1:0][WIDTH-1:0] tile, gathered;
    logic [GIVEN-1:0][WIDTH-1:0] ready, transformed;
    always_comb begin
      gathered = tile;
      gathered[taken[3:0]] = words[k];
    end
    if (KIND == 1) begin : gen_input
      winograd_input #(.WIDTH(WIDTH)) transform (.tile(gathered), .transformed);
    end else if (KIND == 2) begin : gen_kernel
      winograd_kernel #(.WIDTH(WIDTH)) transform (.kernel(gathered), .transformed);
    end else begin : gen_output
      winograd_output #(.WIDTH(WIDTH)) transform (.tile(gathered), .transformed);
    end
    assign out_words[k] = ready[0];
    always_ff @(posedge clk) begin
      if (valid) tile <= gathered;
      if (full) ready <= transformed;
      else if (left != 0) ready <= ready >> WIDTH;
    end
  end
endmodule
