// Runs one MOVE instruction: a stream of words from DRAM or a buffer to DRAM or a buffer, one a cycle, with a
// layout-transformation unit at either end and a linear transform, the pooling unit or nothing between them.
//
// A buffer address is {j, i} of its matrix, 16 bits each; a DRAM address counts words.
module mover #(
    parameter int POOL_WINDOW = 3,
    parameter int POOL_LINE = 256
) (
    input logic clk,
    input logic reset,
    input logic start,
    output logic busy,
    input logic [2:0] unit,
    input logic requantises,
    input logic [31:0] bias,
    input logic [31:0] factor,
    input logic [31:0] addend,
    input logic [31:0] shift,
    input logic [31:0] lowest,
    input logic [31:0] highest,
    input logic [31:0] kernel_rows,
    input logic [31:0] kernel_columns,
    input logic [31:0] stride,
    input logic [31:0] map_rows,
    input logic [31:0] map_columns,
    input logic [31:0] tile_words,
    input logic [31:0] tile_gap,
    input logic [31:0] fill,
    input logic [24:0][31:0] source_walk,
    input logic [24:0][31:0] target_walk,
    output logic [31:0] read_address,
    input logic [31:0] read_word,
    output logic write_enable,
    output logic [31:0] write_address,
    output logic [31:0] write_word
);
  localparam logic [2:0] POOL = 4;
  logic issue, source_busy, source_covered, target_busy, target_covered, linear;

  layout_unit source (
      .clk, .reset, .start, .step(issue), .base_address(source_walk[0]), .base_position(source_walk[1]),
      .low(source_walk[2]), .high(source_walk[3]), .count(source_walk[10:4]), .address_step(source_walk[17:11]),
      .position_step(source_walk[24:18]), .address(read_address), .covered(source_covered), .busy(source_busy)
  );

  // A tile of fewer words than its transform has leaves the stream idle for the difference.
  logic [31:0] within_tile;
  assign issue = source_busy && within_tile < tile_words;
  always_ff @(posedge clk) begin
    if (start) within_tile <= '0;
    else if (source_busy) within_tile <= within_tile + 1 >= tile_words + tile_gap ? '0 : within_tile + 1;
  end

  // Words come a cycle after their address.
  logic arrives, arrives_covered, linear_valid, pool_valid, valid;
  logic [31:0] arrived, linear_word, pool_word, word;
  always_ff @(posedge clk) begin
    arrives <= issue && !reset && !start;
    arrives_covered <= source_covered;
  end
  assign arrived = arrives_covered ? read_word : fill;
  assign linear = unit != 0 && unit != POOL;

  linear_transform #(
      .WIDTH(32)
  ) transform (
      .clk, .start, .kind(unit[1:0]), .valid(arrives && linear), .word(arrived), .out_valid(linear_valid),
      .out_word(linear_word)
  );
  max_pool #(
      .WINDOW(POOL_WINDOW),
      .WIDTH(32),
      .LINE(POOL_LINE)
  ) pool (
      .clk, .start, .valid(arrives && unit == POOL), .word(arrived), .kernel_rows, .kernel_columns, .stride,
      .map_rows, .map_columns, .out_valid(pool_valid), .out_word(pool_word)
  );
  assign valid = unit == 0 ? arrives : (unit == POOL ? pool_valid : linear_valid);
  assign word = unit == 0 ? arrived : (unit == POOL ? pool_word : linear_word);

  requantise #(
      .WIDTH(32)
  ) requantiser (
      .enable(requantises), .sum(word), .bias, .factor, .addend, .shift, .lowest, .highest, .word(write_word)
  );
  layout_unit target (
      .clk, .reset, .start, .step(valid), .base_address(target_walk[0]), .base_position(target_walk[1]),
      .low(target_walk[2]), .high(target_walk[3]), .count(target_walk[10:4]), .address_step(target_walk[17:11]),
      .position_step(target_walk[24:18]), .address(write_address), .covered(target_covered),
      .busy(target_busy)
  );
  assign write_enable = valid && target_busy && target_covered;
  assign busy = source_busy || target_busy;
endmodule
