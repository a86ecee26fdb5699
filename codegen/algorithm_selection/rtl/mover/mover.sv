// Runs MOVE instructions: a stream from DRAM or a buffer to DRAM or a buffer, a row of LANES adjacent elements
// a cycle, with a layout-transformation unit at either end and, as the overlay has them here, linear transforms,
// pooling units or requantisers between them. It keeps its instruction, so that the controller goes on.
//
// A buffer address is {j, i} of its matrix, 16 bits each; a DRAM address counts words. Words of a buffer come a
// cycle after their address, those of DRAM LATENCY cycles after theirs was granted. `write_row` counts the rows of
// lanes along the level that has them: maps, in what the output buffer holds, of what is requantised. Where lanes are
// elements of a column, all of them have `map_bias` and `map_factor`. Maps lie in DRAM with their zero point, which the
// mover takes away and adds.
module mover #(
    parameter int LOG_LANES = 2,
    parameter int LATENCY = 4,
    parameter int WORD = 32,
    parameter int LINEAR = 0,
    parameter int LARGE = 0,
    parameter int POOLS = 0,
    parameter int REQUANTISES = 0,
    parameter int SINGLE = 0,
    parameter int OPERAND = 16,
    parameter int POOL_WINDOW = 3,
    parameter int POOL_LINE = 256
) (
    input logic clk,
    input logic reset,
    input logic start,
    input logic [80*32-1:0] given,
    output logic [80*32-1:0] field,
    output logic busy,
    input logic [2**LOG_LANES*32-1:0] bias,
    input logic [2**LOG_LANES*32-1:0] factor,
    input logic [31:0] map_bias,
    input logic [31:0] map_factor,
    output logic read_request,
    input logic read_grant,
    output logic [31:0] read_address,
    input logic [2**LOG_LANES*WORD-1:0] read_words,
    output logic [2**LOG_LANES-1:0] write_lane,
    output logic [31:0] write_row,
    output logic [31:0] write_address,
    output logic [2**LOG_LANES*WORD-1:0] write_words
);
  localparam int LANES = 2 ** LOG_LANES;
  localparam int F = 32;
  localparam logic [2:0] POOL = 4;
  localparam logic [2:0] RESULT = 1;
  logic go, issue, from_dram, to_dram, source_busy, source_covered, target_busy, target_covered;
  logic [LANES-1:0] source_lanes, target_lanes;
  logic [2:0] unit;
  logic [31:0] source_row, arrived_row, target_row;
  logic [WORD-1:0] fill, zero_in, zero_out;
  logic unused;
  assign unit = field[3*F+:3];
  assign from_dram = field[1*F+:3] == 0;
  assign to_dram = field[2*F+:3] == 0;
  assign fill = WORD'($signed(field[16*F+:32]));
  assign zero_in = from_dram ? WORD'($signed(field[78*F+:16])) : '0;
  assign zero_out = to_dram ? WORD'($signed(field[78*F+16+:16])) : '0;
  always_ff @(posedge clk) begin
    go <= start && !reset;
    if (start) field <= given;
  end

  layout_unit #(
      .LOG_LANES(LOG_LANES)
  ) source (
      .clk, .reset, .start(go), .step(issue), .base_address(field[22*F+:F]), .base_position(field[23*F+:F]),
      .low(field[24*F+:F]), .high(field[25*F+:F]), .lane_level(field[26*F+:F]), .lane_total(field[27*F+:F]),
      .count(field[28*F+:7*F]), .address_step(field[35*F+:7*F]), .position_step(field[42*F+:7*F]),
      .address(read_address), .covered(source_covered), .lanes(source_lanes), .row(source_row),
      .busy(source_busy)
  );

  // A tile of fewer words than its transform has leaves the stream idle for the difference.
  logic [31:0] within_tile;
  logic waits;
  assign waits = within_tile >= field[14*F+:F];
  assign read_request = source_busy && !waits && from_dram;
  assign issue = source_busy && !waits && (!from_dram || read_grant);
  always_ff @(posedge clk) begin
    if (go) within_tile <= '0;
    else if (issue || waits)
      within_tile <= within_tile + 1 >= field[14*F+:F] + field[15*F+:F] ? '0 : within_tile + 1;
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
  logic [LANES*WORD-1:0] arrived, linear_words, pool_words, words, finished;
  logic linear_valid, pool_valid, valid, linear, on_way;
  // Sums are requantised before they are pooled, so that of a map only what the pool makes is stored.
  assign on_way = POOLS != 0 && unit == POOL && field[1*F+:3] == RESULT;
  for (genvar k = 0; k < LANES; k++) begin : gen_arrived
    assign arrived[k*WORD+:WORD] = pads ? fill : read_words[k*WORD+:WORD] - zero_in;
  end
  assign linear = LINEAR != 0 && unit != 0 && unit != POOL;

  if (LINEAR == 0) begin : gen_no_transform
    assign linear_valid = 1'b0;
    assign linear_words = '0;
  end else begin : gen_transform
    // Operands of the array are no longer than OPERAND bits, transformed or not.
    localparam int WIDTH = LINEAR == 3 ? WORD : OPERAND;
    logic [LANES*WIDTH-1:0] taken, transformed;
    for (genvar k = 0; k < LANES; k++) begin : gen_width
      assign taken[k*WIDTH+:WIDTH] = arrived[k*WORD+:WIDTH];
      assign linear_words[k*WORD+:WORD] = WORD'($signed(transformed[k*WIDTH+:WIDTH]));
    end
    linear_transform #(
        .LANES(LANES),
        .WIDTH(WIDTH),
        .KIND (LINEAR),
        .LARGE(LARGE)
    ) transform (
        .clk, .start(go), .six(unit > POOL), .valid(arrives && linear), .words(taken),
        .out_valid(linear_valid), .out_words(transformed)
    );
  end
  if (POOLS != 0) begin : gen_pool
    logic [LANES*OPERAND-1:0] pixels, largest, results;
    logic results_valid;
    always_ff @(posedge clk) results_valid <= arrives && on_way && !go;
    for (genvar k = 0; k < LANES; k++) begin : gen_pixel
      always_ff @(posedge clk)
        results[k*OPERAND+:OPERAND] <= pads ? fill[OPERAND-1:0] : finished[k*WORD+:OPERAND];
      assign pixels[k*OPERAND+:OPERAND] = on_way ? results[k*OPERAND+:OPERAND] : arrived[k*WORD+:OPERAND];
      assign pool_words[k*WORD+:WORD] = WORD'($signed(largest[k*OPERAND+:OPERAND]));
    end
    max_pool #(
        .LANES (LANES),
        .WINDOW(POOL_WINDOW),
        .WIDTH (OPERAND),
        .LINE  (POOL_LINE)
    ) pool (
        .clk, .start(go), .continues(field[3*F+9]), .groups(on_way ? field[29*F+:F] : 32'd1),
        .valid(on_way ? results_valid : arrives && unit == POOL), .words(pixels), .kernel_rows(field[9*F+:F]),
        .kernel_columns(field[10*F+:F]), .stride(field[11*F+:F]), .map_rows(field[12*F+:F]),
        .map_columns(field[13*F+:F]), .out_valid(pool_valid), .out_words(largest)
    );
  end else begin : gen_no_pool
    assign pool_valid = 1'b0;
    assign pool_words = '0;
  end
  assign valid = linear ? linear_valid : (POOLS != 0 && unit == POOL ? pool_valid : arrives);
  assign words = linear ? linear_words : (POOLS != 0 && unit == POOL ? pool_words : arrived);

  // All lanes requantise alike where they are of one map, and without a table: a bias of all maps stands then where the
  // padding of other moves does.
  logic alike;
  logic [31:0] one_bias, one_factor;
  assign alike = field[4*F+2] || field[21*F];
  assign one_bias = field[4*F+2] ? (field[4*F+1] ? field[16*F+:F] : '0) : map_bias;
  assign one_factor = field[4*F+2] ? (field[4*F+1] ? field[5*F+:F] : 1) : map_factor;
  for (genvar k = 0; k < LANES; k++) begin : gen_written
    if (REQUANTISES != 0) begin : gen_requantiser
      logic [31:0] own_bias, own_factor;
      assign own_bias = alike ? one_bias : bias[k*32+:32];
      assign own_factor = alike ? one_factor : factor[k*32+:32];
      requantise #(
          .WIDTH (WORD),
          .SINGLE(SINGLE)
      ) requantiser (
          .enable(field[4*F]), .single(field[4*F+1]), .sum(on_way ? arrived[k*WORD+:WORD] : words[k*WORD+:WORD]), .bias(own_bias),
          .factor(own_factor), .addend(field[5*F+:F]), .shift(field[6*F+:6]), .lowest(field[7*F+:16]),
          .highest(field[8*F+:16]), .slope(field[77*F+:F]), .word(finished[k*WORD+:WORD])
      );
    end else begin : gen_word
      assign finished[k*WORD+:WORD] = words[k*WORD+:WORD];
    end
    assign write_words[k*WORD+:WORD] = (on_way ? pool_words[k*WORD+:WORD] : finished[k*WORD+:WORD]) + zero_out;
    assign write_lane[k] = valid && target_busy && target_covered && target_lanes[k];
  end
  layout_unit #(
      .LOG_LANES(LOG_LANES)
  ) target (
      .clk, .reset, .start(go), .step(valid), .base_address(field[49*F+:F]), .base_position(field[50*F+:F]),
      .low(field[51*F+:F]), .high(field[52*F+:F]), .lane_level(field[53*F+:F]), .lane_total(field[54*F+:F]),
      .count(field[55*F+:7*F]), .address_step(field[62*F+:7*F]), .position_step(field[69*F+:7*F]),
      .address(write_address), .covered(target_covered), .lanes(target_lanes), .row(target_row),
      .busy(target_busy)
  );
  // Requantisers ahead of the pooling units take the maps that arrive.
  always_ff @(posedge clk) arrived_row <= source_row;
  assign write_row = on_way ? arrived_row : target_row;
  assign busy = go || source_busy || target_busy;
  assign unused = ^{source_lanes, arrived_row, bias, factor, alike, one_bias, one_factor, field};
endmodule
