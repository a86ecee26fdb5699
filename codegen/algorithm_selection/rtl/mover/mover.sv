// Runs MOVE instructions: a stream from DRAM or a buffer to DRAM or a buffer, a row of LANES adjacent elements
// a cycle, with a layout-transformation unit at either end and, as the overlay has them here, linear transforms,
// pooling units or requantisers between them. It keeps its instruction, so that the controller goes on.
//
// A buffer address is {j, i} of its matrix, 16 bits each; a DRAM address counts words. Words of a buffer come a
// cycle after their address, those of DRAM LATENCY cycles after theirs was granted. `write_row` counts the rows of
// lanes along the level that has them: maps, in what the output buffer holds.
module mover #(
    parameter int LOG_LANES = 2,
    parameter int LATENCY = 4,
    parameter int LINEAR = 0,
    parameter bit POOLS = 1'b0,
    parameter bit REQUANTISES = 1'b0,
    parameter int OPERAND = 16,
    parameter int POOL_WINDOW = 3,
    parameter int POOL_LINE = 256
) (
    input logic clk,
    input logic reset,
    input logic start,
    input logic [79:0][31:0] given,
    output logic [79:0][31:0] field,
    output logic busy,
    input logic [2**LOG_LANES-1:0][31:0] bias,
    input logic [2**LOG_LANES-1:0][31:0] factor,
    output logic read_request,
    input logic read_grant,
    output logic [31:0] read_address,
    input logic [2**LOG_LANES-1:0][31:0] read_words,
    output logic [2**LOG_LANES-1:0] write_lane,
    output logic [31:0] write_row,
    output logic [31:0] write_address,
    output logic [2**LOG_LANES-1:0][31:0] write_words
);
  localparam int LANES = 2 ** LOG_LANES;
  localparam logic [2:0] POOL = 4;
  logic go, issue, from_dram, source_busy, source_covered, target_busy, target_covered;
  logic [LANES-1:0] source_lanes, target_lanes;
  logic [2:0] unit;
  logic [31:0] source_row;
  logic unused;
  assign unit = field[3][2:0];
  assign from_dram = field[1] == 0;
  always_ff @(posedge clk) begin
    go <= start && !reset;
    if (start) field <= given;
  end

  layout_unit #(
      .LOG_LANES(LOG_LANES)
  ) source (
      .clk, .reset, .start(go), .step(issue), .base_address(field[22]), .base_position(field[23]),
      .low(field[24]), .high(field[25]), .lane_level(field[26]), .lane_total(field[27]), .count(field[34:28]),
      .address_step(field[41:35]), .position_step(field[48:42]), .address(read_address),
      .covered(source_covered), .lanes(source_lanes), .row(source_row), .busy(source_busy)
  );

  // A tile of fewer words than its transform has leaves the stream idle for the difference.
  logic [31:0] within_tile;
  logic waits;
  assign waits = within_tile >= field[14];
  assign read_request = source_busy && !waits && from_dram;
  assign issue = source_busy && !waits && (!from_dram || read_grant);
  always_ff @(posedge clk) begin
    if (go) within_tile <= '0;
    else if (issue || waits) within_tile <= within_tile + 1 >= field[14] + field[15] ? '0 : within_tile + 1;
  end

  // Words come some cycles after their address; whether they are padding comes with them.
  logic [LATENCY-1:0] issued, padded;
  logic arrives, pads;
  always_ff @(posedge clk) begin
    issued <= go || reset ? '0 : LATENCY'({issued, issue});
    padded <= LATENCY'({padded, !source_covered});
  end
  assign arrives = from_dram ? issued[LATENCY-1] : issued[0];
  assign pads = from_dram ? padded[LATENCY-1] : padded[0];
  logic [LANES-1:0][31:0] arrived, linear_words, pool_words, words;
  logic linear_valid, pool_valid, valid, linear;
  for (genvar k = 0; k < LANES; k++) begin : gen_arrived
    assign arrived[k] = pads ? field[16] : read_words[k];
  end
  assign linear = LINEAR != 0 && unit != 0 && unit != POOL;

  if (LINEAR == 0) begin : gen_no_transform
    assign linear_valid = 1'b0;
    assign linear_words = '0;
  end else begin : gen_transform
    linear_transform #(
        .LANES(LANES),
        .KIND (LINEAR)
    ) transform (
        .clk, .start(go), .valid(arrives && linear), .words(arrived), .out_valid(linear_valid),
        .out_words(linear_words)
    );
  end
  if (POOLS) begin : gen_pool
    logic [LANES-1:0][OPERAND-1:0] pixels, largest;
    for (genvar k = 0; k < LANES; k++) begin : gen_pixel
      assign pixels[k] = arrived[k][OPERAND-1:0];
      assign pool_words[k] = 32'($signed(largest[k]));
    end
    max_pool #(
        .LANES (LANES),
        .WINDOW(POOL_WINDOW),
        .WIDTH (OPERAND),
        .LINE  (POOL_LINE)
    ) pool (
        .clk, .start(go), .valid(arrives && unit == POOL), .words(pixels), .kernel_rows(field[9]),
        .kernel_columns(field[10]), .stride(field[11]), .map_rows(field[12]), .map_columns(field[13]),
        .out_valid(pool_valid), .out_words(largest)
    );
  end else begin : gen_no_pool
    assign pool_valid = 1'b0;
    assign pool_words = '0;
  end
  assign valid = linear ? linear_valid : (POOLS && unit == POOL ? pool_valid : arrives);
  assign words = linear ? linear_words : (POOLS && unit == POOL ? pool_words : arrived);

  for (genvar k = 0; k < LANES; k++) begin : gen_written
    if (REQUANTISES) begin : gen_requantiser
      requantise requantiser (
          .enable(field[4][0]), .sum(words[k]), .bias(bias[k]), .factor(factor[k]), .addend(field[5]),
          .shift(field[6]), .lowest(field[7]), .highest(field[8]), .slope(field[77]), .word(write_words[k])
      );
    end else begin : gen_word
      assign write_words[k] = words[k];
    end
    assign write_lane[k] = valid && target_busy && target_covered && target_lanes[k];
  end
  layout_unit #(
      .LOG_LANES(LOG_LANES)
  ) target (
      .clk, .reset, .start(go), .step(valid), .base_address(field[49]), .base_position(field[50]),
      .low(field[51]), .high(field[52]), .lane_level(field[53]), .lane_total(field[54]), .count(field[61:55]),
      .address_step(field[68:62]), .position_step(field[75:69]), .address(write_address),
      .covered(target_covered), .lanes(target_lanes), .row(write_row), .busy(target_busy)
  );
  assign busy = go || source_busy || target_busy;
  assign unused = ^{source_lanes, source_row, bias, factor, field};
endmodule
