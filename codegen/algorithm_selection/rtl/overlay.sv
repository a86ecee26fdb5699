// The overlay of Fig. 2: array, input, kernel and output buffers (the output buffer in two groups, Section
// 3.3.2: sums of the array, and finished maps), linear transforms, pad-and-accumulate, pooling, layout
// transformation and the controller. DRAM is outside: one read and one write port, a word a cycle, read data
// a cycle after the address.
`include "parameters.svh"

module overlay #(
    parameter int P1 = `OVERLAY_P1,
    parameter int P2 = `OVERLAY_P2,
    parameter int LOG_BANKS = `OVERLAY_LOG_BANKS,
    parameter int OPERAND = 16,
    parameter int SUM = 32,
    parameter int INPUT_DEPTH = `OVERLAY_INPUT_DEPTH,
    parameter int KERNEL_DEPTH = `OVERLAY_KERNEL_DEPTH,
    parameter int RESULT_DEPTH = `OVERLAY_RESULT_DEPTH,
    parameter int TENSOR_DEPTH = `OVERLAY_TENSOR_DEPTH,
    parameter int CALLS = `OVERLAY_CALLS,
    parameter int MAPS = `OVERLAY_MAPS,
    parameter int CONTROL_WORDS = `OVERLAY_CONTROL_WORDS,
    parameter int POOL_WINDOW = `OVERLAY_POOL_WINDOW,
    parameter int POOL_LINE = `OVERLAY_POOL_LINE
) (
    input logic clk,
    input logic reset,
    input logic resume,
    output logic [31:0] dram_read_address,
    input logic [31:0] dram_read_word,
    output logic dram_write_enable,
    output logic [31:0] dram_write_address,
    output logic [31:0] dram_write_word,
    output logic log_valid,
    output logic [31:0] log_cycles,
    output logic done
);
  localparam int BANKS = 2 ** LOG_BANKS;
  localparam logic [2:0] DRAM = 0;
  localparam logic [2:0] RESULT_SOURCE = 1;
  localparam logic [2:0] INPUT_TARGET = 1;
  localparam logic [2:0] KERNEL_TARGET = 2;
  localparam logic [2:0] TENSOR_TARGET = 3;
  localparam logic [2:0] RESULT_TARGET = 4;
  localparam logic [2:0] SCALE_TARGET = 5;
  localparam int MAP = $clog2(MAPS);

  logic [31:0] control_address, control_word;
  logic [79:0][31:0] field;
  logic gemm_start, move_start, call_write, gemm_busy, move_busy;
  control_rom #(
      .WORDS(CONTROL_WORDS)
  ) rom (
      .clk, .address(control_address), .word(control_word)
  );
  controller #(
      .WORDS(80)
  ) sequencer (
      .clk, .reset, .resume, .control_address, .control_word, .field, .gemm_start, .move_start, .call_write,
      .busy(gemm_busy || move_busy), .log_valid, .log_cycles, .done
  );
  logic unused_field;
  assign unused_field = ^field;

  logic input_column, kernel_column, result_column, result_add;
  logic [31:0] input_i, input_j, kernel_i, kernel_j, result_i, result_j;
  logic [BANKS-1:0] result_lane;
  logic [BANKS-1:0][OPERAND-1:0] input_data, kernel_data, tensor_data;
  logic [BANKS-1:0][SUM-1:0] result_data, sums;
  gemm #(
      .P1(P1),
      .P2(P2),
      .LOG_BANKS(LOG_BANKS),
      .OPERAND(OPERAND),
      .SUM(SUM),
      .CALLS(CALLS)
  ) multiplier (
      .clk, .reset, .start(gemm_start), .busy(gemm_busy), .dataflow(field[1][1:0]), .a(field[2]),
      .b(field[3]), .c(field[4]), .calls(field[5]), .patches(field[6][0]), .patch_width(field[7]),
      .out_rows(field[8]), .out_columns(field[9]), .call_write, .call_index(field[1]),
      .call_record(field[10:2]), .input_column, .input_i, .input_j, .input_data, .kernel_column, .kernel_i,
      .kernel_j, .kernel_data, .result_column, .result_add, .result_i, .result_j, .result_lane, .result_data
  );

  logic [2:0] source, target;
  logic [31:0] read_address, read_word, write_address, write_word, row, column;
  logic write_enable;
  // Bias (column 0) and factor (column 1) of every map, for the requantiser.
  logic [31:0] biases[MAPS];
  logic [31:0] factors[MAPS];
  logic [MAP-1:0] map;
  assign map = column[MAP-1:0];
  always_ff @(posedge clk)
    if (write_enable && target == SCALE_TARGET) begin
      if (column == 0) biases[row[MAP-1:0]] <= write_word;
      else factors[row[MAP-1:0]] <= write_word;
    end
  assign source = field[1][2:0];
  assign target = field[2][2:0];
  mover #(
      .POOL_WINDOW(POOL_WINDOW),
      .POOL_LINE(POOL_LINE)
  ) move (
      .clk, .reset, .start(move_start), .busy(move_busy), .unit(field[3][2:0]), .requantises(field[4][0]),
      .bias(biases[map]), .factor(factors[map]), .addend(field[5]), .shift(field[6]), .lowest(field[7]), .highest(field[8]),
      .kernel_rows(field[9]), .kernel_columns(field[10]), .stride(field[11]), .map_rows(field[12]),
      .map_columns(field[13]), .tile_words(field[14]), .tile_gap(field[15]), .fill(field[16]),
      .source_walk(field[43:19]), .target_walk(field[68:44]), .read_address, .read_word, .write_enable,
      .write_address, .write_word
  );
  assign row = 32'(write_address[15:0]);
  assign column = 32'(write_address[31:16]);
  assign dram_read_address = read_address;
  assign dram_write_address = write_address;
  assign dram_write_word = write_word;
  assign dram_write_enable = write_enable && target == DRAM;
  assign read_word = source == DRAM ? dram_read_word : (source == RESULT_SOURCE ? 32'(sums[0]) :
      32'($signed(tensor_data[0])));

  banked_buffer #(
      .WIDTH(OPERAND),
      .LOG_BANKS(LOG_BANKS),
      .DEPTH(INPUT_DEPTH)
  ) input_buffer (
      .clk, .read_rows(field[10]), .read_column(input_column), .read_i(input_i), .read_j(input_j),
      .read_data(input_data), .write_rows(field[18]), .write_column(1'b0), .write_add(1'b0), .write_i(row),
      .write_j(column), .write_lane(BANKS'(write_enable && target == INPUT_TARGET)),
      .write_data((BANKS * OPERAND)'(write_word[OPERAND-1:0]))
  );
  banked_buffer #(
      .WIDTH(OPERAND),
      .LOG_BANKS(LOG_BANKS),
      .DEPTH(KERNEL_DEPTH)
  ) kernel_buffer (
      .clk, .read_rows(field[11]), .read_column(kernel_column), .read_i(kernel_i), .read_j(kernel_j),
      .read_data(kernel_data), .write_rows(field[18]), .write_column(1'b0), .write_add(1'b0), .write_i(row),
      .write_j(column), .write_lane(BANKS'(write_enable && target == KERNEL_TARGET)),
      .write_data((BANKS * OPERAND)'(write_word[OPERAND-1:0]))
  );
  banked_buffer #(
      .WIDTH(SUM),
      .LOG_BANKS(LOG_BANKS),
      .DEPTH(RESULT_DEPTH)
  ) result_buffer (
      .clk, .read_rows(field[17]), .read_column(1'b0), .read_i(32'(read_address[15:0])),
      .read_j(32'(read_address[31:16])), .read_data(sums),
      .write_rows(gemm_busy ? field[12] : field[18]), .write_column(gemm_busy && result_column),
      .write_add(gemm_busy && result_add), .write_i(gemm_busy ? result_i : row),
      .write_j(gemm_busy ? result_j : column),
      .write_lane(gemm_busy ? result_lane : BANKS'(write_enable && target == RESULT_TARGET)),
      .write_data(gemm_busy ? result_data : (BANKS * SUM)'(write_word))
  );
  banked_buffer #(
      .WIDTH(OPERAND),
      .LOG_BANKS(LOG_BANKS),
      .DEPTH(TENSOR_DEPTH)
  ) tensor_buffer (
      .clk, .read_rows(field[17]), .read_column(1'b0), .read_i(32'(read_address[15:0])),
      .read_j(32'(read_address[31:16])), .read_data(tensor_data), .write_rows(field[18]),
      .write_column(1'b0), .write_add(1'b0), .write_i(row), .write_j(column),
      .write_lane(BANKS'(write_enable && target == TENSOR_TARGET)),
      .write_data((BANKS * OPERAND)'(write_word[OPERAND-1:0]))
  );
  logic unused_lanes;
  assign unused_lanes = ^{tensor_data, sums};
endmodule
