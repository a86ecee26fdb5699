// Linear transform module (Section 3.1): collects a tile from a stream, transforms it, and streams it out
// while the next one is collected. Whoever feeds it leaves a gap where more words go out than come in.
module linear_transform #(
    parameter int WIDTH = 32
) (
    input logic clk,
    input logic start,
    input logic [1:0] kind,
    input logic valid,
    input logic [WIDTH-1:0] word,
    output logic out_valid,
    output logic [WIDTH-1:0] out_word
);
  localparam logic [1:0] KERNEL = 2;
  localparam logic [1:0] OUTPUT = 3;
  logic [15:0][WIDTH-1:0] tile, gathered, ready, from_input, from_kernel;
  logic [3:0][WIDTH-1:0] from_output;
  logic [4:0] taken, left;
  logic full;

  always_comb begin
    gathered = tile;
    gathered[taken[3:0]] = word;
  end
  winograd_input #(.WIDTH(WIDTH)) input_transform (.tile(gathered), .transformed(from_input));
  winograd_kernel #(.WIDTH(WIDTH)) kernel_transform (.kernel(gathered[8:0]), .transformed(from_kernel));
  winograd_output #(.WIDTH(WIDTH)) output_transform (.tile(gathered), .transformed(from_output));
  assign full = valid && taken == (kind == KERNEL ? 5'd8 : 5'd15);
  assign out_valid = left != 0;
  assign out_word = ready[0];

  always_ff @(posedge clk) begin
    if (start) begin
      taken <= '0;
      left <= '0;
    end else begin
      if (valid) begin
        tile <= gathered;
        taken <= full ? '0 : taken + 1;
      end
      if (full) begin
        ready <= kind == OUTPUT ? {{12 * WIDTH{1'b0}}, from_output} :
            (kind == KERNEL ? from_kernel : from_input);
        left <= kind == OUTPUT ? 5'd4 : 5'd16;
      end else if (left != 0) begin
        ready <= ready >> WIDTH;
        left <= left - 1;
      end
    end
  end
endmodule
