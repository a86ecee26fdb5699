// The overlay of Fig. 2: array, input, kernel and output buffers (the output buffer in two groups, Section
// 3.3.2: sums of the array, themselves in two halves, and finished maps), linear transforms, pad-and-accumulate,
// pooling, layout transformation and the controller. Three movers fill the input and the kernel buffer and
// empty the output buffer while the array computes. DRAM is outside: one read and one write port of LANES
// adjacent words a cycle each, read data DRAM_LATENCY cycles after the address.
`include "parameters.svh"

module overlay #(
    parameter int P1 = `OVERLAY_P1,
    parameter int P2 = `OVERLAY_P2,
    parameter int LOG_BANKS = `OVERLAY_LOG_BANKS,
    parameter int WIRES = `OVERLAY_WIRES,
    parameter int OPERAND = 16,
    parameter int SUM = `OVERLAY_SUM,
    parameter int LARGE = `OVERLAY_LARGE,
    parameter int SINGLE = `OVERLAY_SINGLE,
    parameter int INPUT_DEPTH = `OVERLAY_INPUT_DEPTH,
    parameter int KERNEL_DEPTH = `OVERLAY_KERNEL_DEPTH,
    parameter int RESULT_DEPTH = `OVERLAY_RESULT_DEPTH,
    parameter int TENSOR_DEPTH = `OVERLAY_TENSOR_DEPTH,
    parameter int CALLS = `OVERLAY_CALLS,
    parameter int SCALE_DEPTH = `OVERLAY_SCALE_DEPTH,
    parameter int CONTROL_LINES = `OVERLAY_CONTROL_LINES,
    parameter int FETCH = 8,
    parameter int DRAM_LATENCY = `OVERLAY_DRAM_LATENCY,
    parameter int POOL_WINDOW = `OVERLAY_POOL_WINDOW,
    parameter int POOL_LINE = `OVERLAY_POOL_LINE
) (
    input logic clk,
    input logic reset,
    input logic resume,
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
  localparam int BANKS = 2 ** LOG_BANKS;
  // Rows of a stationary block that come in over a wire: an odd number where there are two, as banks want it.
  localparam int SEGMENT = WIRES == 1 ? P1 : ((P1 + 1) / 2) | 1;
  localparam int F = 32;
  localparam logic [31:0] DRAM = 0;
  localparam logic [31:0] TENSOR_SOURCE = 2;
  localparam logic [31:0] INPUT_TARGET = 1;
  localparam logic [31:0] KERNEL_TARGET = 2;
  localparam logic [31:0] TENSOR_TARGET = 3;
  localparam logic [31:0] RESULT_TARGET = 4;
  localparam logic [31:0] SCALE_TARGET = 5;
  localparam int SCALE = $clog2(SCALE_DEPTH);

  logic [31:0] control_address;
  logic [FETCH*32-1:0] control_words;
  logic [80*32-1:0] field;
  logic [3:0] start;
  logic call_write;
  control_rom #(
      .LINES(CONTROL_LINES),
      .FETCH(FETCH)
  ) rom (
      .clk, .address(control_address), .words(control_words)
  );
  controller #(
      .WORDS(80),
      .FETCH(FETCH)
  ) sequencer (
      .clk, .reset, .resume, .control_address, .control_words, .field, .start, .call_write, .busy, .done
  );
  assign started = start;

  // The array and its instruction.
  logic [80*32-1:0] product;
  logic multiply, multiplies;
  always_ff @(posedge clk) begin
    multiply <= start[2] && !reset;
    if (start[2]) product <= field;
  end
  assign busy[2] = multiply || multiplies;
  logic input_column, kernel_column, result_column, result_add;
  logic [31:0] input_i, input_j, kernel_i, kernel_j, result_i, result_j;
  logic [BANKS-1:0] result_lane;
  logic [WIRES*BANKS*OPERAND-1:0] input_data, kernel_data;
  logic [BANKS*OPERAND-1:0] tensor_data;
  logic [BANKS*SUM-1:0] result_data;
  logic [2*BANKS*SUM-1:0] sums;
  gemm #(
      .P1(P1),
      .P2(P2),
      .LOG_BANKS(LOG_BANKS),
      .WIRES(WIRES),
      .SEGMENT(SEGMENT),
      .OPERAND(OPERAND),
      .SUM(SUM),
      .CALLS(CALLS)
  ) multiplier (
      .clk, .reset, .start(multiply), .busy(multiplies), .dataflow(product[1*F+:2]), .a(product[2*F+:F]),
      .b(product[3*F+:F]), .c(product[4*F+:F]), .calls(product[5*F+:F]), .first_call(product[13*F+:F]), .patches(product[6*F]),
      .patch_width(product[7*F+:F]), .out_rows(product[8*F+:F]), .out_columns(product[9*F+:F]), .call_write,
      .call_index(field[1*F+:F]), .call_record(field[2*F+:9*F]), .input_column, .input_i, .input_j, .input_data,
      .kernel_column, .kernel_i, .kernel_j, .kernel_data, .result_column, .result_add, .result_i, .result_j,
      .result_lane, .result_data
  );

  // The movers: 0 fills the input buffer, 1 the kernel buffer and the scales, 3 empties the output buffer.
  logic [80*32-1:0] reads, weighs, writes;
  logic [2:0] request, grant;
  logic [31:0] input_from, kernel_from, output_from, input_to, kernel_to, output_to, output_row;
  logic [31:0] input_row, kernel_row;
  logic finishes, restores;
  logic unused_rows;
  assign unused_rows = ^{input_row, kernel_row};
  logic [BANKS-1:0] input_lane, kernel_lane, output_lane;
  logic [BANKS*32-1:0] input_words, kernel_words, input_read, biases, factors;
  logic [31:0] map_bias, map_factor;
  logic [BANKS*SUM-1:0] output_words, output_read, cleared;
  mover #(
      .LOG_LANES(LOG_BANKS),
      .LATENCY(DRAM_LATENCY),
      .LINEAR(1),
      .LARGE(LARGE)
  ) input_mover (
      .clk, .reset, .start(start[0]), .given(field), .field(reads), .busy(busy[0]), .bias('0), .factor('0),
      .map_bias('0), .map_factor('0), .read_request(request[0]), .read_grant(grant[0]), .read_address(input_from), .read_words(input_read),
      .write_lane(input_lane), .write_row(input_row), .write_address(input_to), .write_words(input_words)
  );
  mover #(
      .LOG_LANES(LOG_BANKS),
      .LATENCY(DRAM_LATENCY),
      .LINEAR(2),
      .LARGE(LARGE)
  ) kernel_mover (
      .clk, .reset, .start(start[1]), .given(field), .field(weighs), .busy(busy[1]), .bias('0), .factor('0),
      .map_bias('0), .map_factor('0), .read_request(request[2]), .read_grant(grant[2]), .read_address(kernel_from),
      .read_words(dram_read_words), .write_lane(kernel_lane), .write_row(kernel_row),
      .write_address(kernel_to), .write_words(kernel_words)
  );
  mover #(
      .LOG_LANES(LOG_BANKS),
      .LATENCY(DRAM_LATENCY),
      .WORD(SUM),
      .LINEAR(3),
      .LARGE(LARGE),
      .POOLS(1),
      .REQUANTISES(1),
      .SINGLE(SINGLE),
      .OPERAND(OPERAND),
      .POOL_WINDOW(POOL_WINDOW),
      .POOL_LINE(POOL_LINE)
  ) output_mover (
      .clk, .reset, .start(start[3]), .given(field), .field(writes), .busy(busy[3]), .bias(biases),
      .factor(factors), .map_bias, .map_factor, .read_request(request[1]), .read_grant(grant[1]),
      .read_address(output_from), .read_words(output_read), .write_lane(output_lane), .write_row(output_row),
      .write_address(output_to), .write_words(output_words)
  );

  // DRAM's read port: maps first, kernels for the next layer when nobody else reads.
  assign grant = {request[2] && !request[1] && !request[0], request[1] && !request[0], request[0]};
  assign dram_read_enable = |request;
  assign dram_read_address = request[0] ? input_from : (request[1] ? output_from : kernel_from);
  assign dram_write_lane = writes[2*F+:F] == DRAM ? output_lane : '0;
  assign dram_write_address = output_to;
  logic [19:0] threefold;
  assign threefold = 20'($signed(reads[79*F+:18])) + 20'($signed({reads[79*F+:18], 1'b0}));
  for (genvar k = 0; k < BANKS; k++) begin : gen_read
    logic [31:0] stored;
    assign stored = dram_read_words[k*32+:32];
    assign dram_write_words[k*32+:32] = output_words[k*SUM+:32];
    assign input_read[k*32+:32] = reads[1*F+:F] == DRAM ? stored : 32'($signed(tensor_data[k*OPERAND+:OPERAND]));
    assign output_read[k*SUM+:SUM] = writes[1*F+:F] == DRAM ? SUM'($signed(stored)) :
        (writes[1*F+:F] == TENSOR_SOURCE ? SUM'($signed(tensor_data[k*OPERAND+:OPERAND])) :
        (writes[19*F] ? sums[(BANKS+k)*SUM+:SUM] : sums[k*SUM+:SUM]));
    scale_operand #(
        .WIDTH(SUM)
    ) of_sum (
        .word(input_words[k*32+:9]), .factor(reads[79*F+:18]), .threefold, .scaled(cleared[k*SUM+:SUM])
    );
  end

  // Bias (column 0) and factor (column 1) of every map, a bank a lane, for the requantisers. Of a column of the sums all
  // lanes have those of one map, whose words come a cycle after its address.
  logic [SCALE-1:0] scale_from, scale_to;
  logic [15:0] map_from;
  assign map_from = output_from[31:16];
  assign scale_from = SCALE'(writes[76*F+:F] + (writes[21*F] ? 32'(map_from >> LOG_BANKS) : output_row));
  always_ff @(posedge clk) begin
    map_bias <= biases[32*map_from[LOG_BANKS-1:0]+:32];
    map_factor <= factors[32*map_from[LOG_BANKS-1:0]+:32];
  end
  assign scale_to = SCALE'(weighs[20*F+:F] + (32'(kernel_to[15:0]) >> LOG_BANKS));
  for (genvar k = 0; k < BANKS; k++) begin : gen_scale
    logic [31:0] bias[SCALE_DEPTH];
    logic [31:0] factor[SCALE_DEPTH];
    always_ff @(posedge clk)
      if (kernel_lane[k] && weighs[2*F+:F] == SCALE_TARGET) begin
        if (kernel_to[31:16] == 0) bias[scale_to] <= kernel_words[k*32+:32];
        else factor[scale_to] <= kernel_words[k*32+:32];
      end
    assign biases[k*32+:32] = bias[scale_from];
    assign factors[k*32+:32] = factor[scale_from];
  end

  logic [BANKS*OPERAND-1:0] input_operands, kernel_operands, finished_operands;
  for (genvar k = 0; k < BANKS; k++) begin : gen_operand
    assign input_operands[k*OPERAND+:OPERAND] = input_words[k*32+:OPERAND];
    assign kernel_operands[k*OPERAND+:OPERAND] = kernel_words[k*32+:OPERAND];
    assign finished_operands[k*OPERAND+:OPERAND] = restores ? input_words[k*32+:OPERAND] :
        output_words[k*SUM+:OPERAND];
  end

  banked_buffer #(
      .WIDTH(OPERAND),
      .LOG_BANKS(LOG_BANKS),
      .DEPTH(INPUT_DEPTH),
      .PIECES(WIRES),
      .APART(SEGMENT)
  ) input_buffer (
      .clk, .read_base(product[14*F+:F]), .read_rows(product[10*F+:F]), .read_column(input_column), .read_i(input_i),
      .read_j(input_j), .read_data(input_data), .write_base(reads[20*F+:F]), .write_rows(reads[18*F+:F]),
      .write_column(reads[3*F+10]), .write_add(1'b0), .write_i(32'(input_to[15:0])), .write_j(32'(input_to[31:16])),
      .write_lane(reads[2*F+:F] == INPUT_TARGET ? input_lane : '0), .write_data(input_operands)
  );
  banked_buffer #(
      .WIDTH(OPERAND),
      .LOG_BANKS(LOG_BANKS),
      .DEPTH(KERNEL_DEPTH),
      .PIECES(WIRES),
      .APART(SEGMENT)
  ) kernel_buffer (
      .clk, .read_base(product[15*F+:F]), .read_rows(product[11*F+:F]), .read_column(kernel_column), .read_i(kernel_i),
      .read_j(kernel_j), .read_data(kernel_data), .write_base(weighs[20*F+:F]), .write_rows(weighs[18*F+:F]),
      .write_column(1'b0), .write_add(1'b0), .write_i(32'(kernel_to[15:0])),
      .write_j(32'(kernel_to[31:16])), .write_lane(weighs[2*F+:F] == KERNEL_TARGET ? kernel_lane : '0),
      .write_data(kernel_operands)
  );

  // The array adds into one half of the sums while the other is emptied.
  for (genvar h = 0; h < 2; h++) begin : gen_half
    logic own, clears;
    assign own = product[16*F] == 1'(h);
    assign clears = busy[0] && reads[2*F+:F] == RESULT_TARGET && reads[20*F] == 1'(h);
    banked_buffer #(
        .WIDTH(SUM),
        .LOG_BANKS(LOG_BANKS),
        .DEPTH(RESULT_DEPTH)
    ) result_buffer (
        .clk, .read_base('0), .read_rows(writes[17*F+:F]), .read_column(writes[21*F]), .read_i(32'(output_from[15:0])),
        .read_j(32'(output_from[31:16])), .read_data(sums[h*BANKS*SUM+:BANKS*SUM]), .write_base('0),
        .write_rows(clears ? reads[18*F+:F] : product[12*F+:F]), .write_column(!clears && result_column),
        .write_add(clears ? reads[3*F+8] : result_add), .write_i(clears ? 32'(input_to[15:0]) : result_i),
        .write_j(clears ? 32'(input_to[31:16]) : result_j),
        .write_lane(clears ? input_lane : (own ? result_lane : '0)),
        .write_data(clears ? cleared : result_data)
    );
  end

  // Finished maps: of the output mover, which the input mover reads where they stay for the next layer, or of the
  // input mover, which restores them to the 3-D tensor.
  assign finishes = busy[3] && writes[1*F+:F] == TENSOR_SOURCE;
  assign restores = busy[0] && reads[2*F+:F] == TENSOR_TARGET;
  banked_buffer #(
      .WIDTH(OPERAND),
      .LOG_BANKS(LOG_BANKS),
      .DEPTH(TENSOR_DEPTH)
  ) tensor_buffer (
      .clk, .read_base(finishes ? writes[19*F+:F] : reads[19*F+:F]),
      .read_rows(finishes ? writes[17*F+:F] : reads[17*F+:F]),
      .read_column(finishes ? writes[21*F] : reads[21*F]),
      .read_i(32'(finishes ? output_from[15:0] : input_from[15:0])),
      .read_j(32'(finishes ? output_from[31:16] : input_from[31:16])), .read_data(tensor_data),
      .write_base(restores ? reads[20*F+:F] : writes[20*F+:F]), .write_rows(restores ? reads[18*F+:F] : writes[18*F+:F]),
      .write_column(1'b0), .write_add(1'b0),
      .write_i(32'(restores ? input_to[15:0] : output_to[15:0])),
      .write_j(32'(restores ? input_to[31:16] : output_to[31:16])),
      .write_lane(restores ? input_lane : (writes[2*F+:F] == TENSOR_TARGET ? output_lane : '0)),
      .write_data(finished_operands)
  );
  logic unused;
  assign unused = ^{product, reads, weighs, writes, input_words, output_words};
endmodule
