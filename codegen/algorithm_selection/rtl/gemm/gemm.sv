// Runs one GEMM instruction: products Y (a x c) = X (a x b) W (b x c) in one of the three dataflows. Each of its
// `calls` says where its matrices lie in the buffers and whether it adds to Y.
//
//   NS (0): PE rows are rows of X, PE columns are columns of W; b beats a pass.
//   WS (1): PE rows are rows of W, PE columns its columns; the block stays, rows of X stream; a beats a pass.
//   IS (2): the mirror image: a block of X stays, columns of W stream; c beats a pass.
//
// Passes follow each other without a gap where they have P1 beats or more (NS) or SEGMENT (WS, IS); a shorter one waits
// for the P1 results of the pass before, or for the rows of the next block, which come over WIRES wires a column: of
// SEGMENT rows each, from rows of a buffer that lie so far apart.
module gemm #(
    parameter int P1 = 4,
    parameter int P2 = 4,
    parameter int LOG_BANKS = 2,
    parameter int WIRES = 1,
    parameter int SEGMENT = P1,
    parameter int OPERAND = 16,
    parameter int SUM = 32,
    parameter int CALLS = 64
) (
    input logic clk,
    input logic reset,
    input logic start,
    output logic busy,
    input logic [1:0] dataflow,
    input logic [31:0] a,
    input logic [31:0] b,
    input logic [31:0] c,
    input logic [31:0] calls,
    input logic [31:0] first_call,
    input logic patches,
    input logic [31:0] patch_width,
    input logic [31:0] out_rows,
    input logic [31:0] out_columns,
    input logic call_write,
    input logic [31:0] call_index,
    input logic [9*32-1:0] call_record,
    output logic input_column,
    output logic [31:0] input_i,
    output logic [31:0] input_j,
    input logic [WIRES*2**LOG_BANKS*OPERAND-1:0] input_data,
    output logic kernel_column,
    output logic [31:0] kernel_i,
    output logic [31:0] kernel_j,
    input logic [WIRES*2**LOG_BANKS*OPERAND-1:0] kernel_data,
    output logic result_column,
    output logic result_add,
    output logic [31:0] result_i,
    output logic [31:0] result_j,
    output logic [2**LOG_BANKS-1:0] result_lane,
    output logic [2**LOG_BANKS*SUM-1:0] result_data
);
  localparam int BANKS = 2 ** LOG_BANKS;
  localparam int LATENCY = P1 + P2;
  localparam int ENTRIES = (P1 + SEGMENT - 1) / SEGMENT;

  typedef enum logic [1:0] {
    IDLE,
    PRELOAD,
    STREAM,
    DRAIN
  } state_t;
  state_t state;

  logic ns, is;
  logic [31:0] inner_extent, outer_extent, stream_extent;
  assign ns = dataflow == 0;
  assign is = dataflow == 2;
  assign inner_extent = ns ? a : b;
  assign outer_extent = is ? a : c;
  assign stream_extent = ns ? b : (is ? c : a);

  // Where each call's matrices begin, and the shift of its patch.
  typedef struct packed {
    logic [31:0] shift_column;
    logic [31:0] shift_row;
    logic [31:0] adds;
    logic [31:0] result_column;
    logic [31:0] result_row;
    logic [31:0] weight_column;
    logic [31:0] weight_row;
    logic [31:0] input_column;
    logic [31:0] input_row;
  } call_t;
  localparam int CALL = $clog2(CALLS);
  call_t table_of_calls[CALLS];
  always_ff @(posedge clk) if (call_write) table_of_calls[call_index[CALL-1:0]] <= call_record;
  logic [31:0] stream_call, next_call, call, stream_at, next_at, collect_at;
  // The calls of this instruction begin at `first_call`; those of the next are written elsewhere meanwhile.
  assign stream_at = first_call + stream_call;
  assign next_at = first_call + next_call;
  assign collect_at = first_call + call;
  call_t now, coming, collected;
  logic unused_index, unused_fields;
  assign unused_index = ^{call_index[31:CALL], stream_at[31:CALL], next_at[31:CALL], collect_at[31:CALL]};
  assign now = table_of_calls[stream_at[CALL-1:0]];
  assign coming = table_of_calls[next_at[CALL-1:0]];
  assign collected = table_of_calls[collect_at[CALL-1:0]];
  assign unused_fields = ^{now, coming, collected};

  // Beats of the pass that streams, and of the preload that runs beside it.
  logic [31:0] beat;
  logic pass_ends;
  logic [31:0] stream_inner, stream_outer;
  logic stream_inner_last, stream_outer_last, stream_last, unused_stream;
  assign pass_ends = state == STREAM && beat + 1 >= stream_extent && beat + 1 >= (ns ? P1 : SEGMENT);
  pass_counter #(
      .P1(P1),
      .P2(P2)
  ) stream_counter (
      .clk, .start, .step(pass_ends), .inner_extent, .outer_extent, .calls, .inner(stream_inner),
      .outer(stream_outer), .call(stream_call), .inner_last(stream_inner_last),
      .outer_last(stream_outer_last), .last(stream_last)
  );
  assign unused_stream = ^{stream_inner_last, stream_outer_last};

  logic [31:0] next_inner, next_outer;
  logic next_steps, next_over, next_inner_last, next_outer_last, next_last, unused_next;
  assign next_steps = pass_ends || (state == PRELOAD && beat + 1 == SEGMENT);
  pass_counter #(
      .P1(P1),
      .P2(P2)
  ) next_counter (
      .clk, .start, .step(next_steps), .inner_extent, .outer_extent, .calls, .inner(next_inner),
      .outer(next_outer), .call(next_call), .inner_last(next_inner_last), .outer_last(next_outer_last),
      .last(next_last)
  );
  assign unused_next = ^{next_inner_last, next_outer_last};

  logic streams, preloads;
  assign streams = state == STREAM && beat < stream_extent;
  assign preloads = !ns && !next_over && (state == PRELOAD || state == STREAM) && beat < SEGMENT;

  // The segments of a block are shifted in from their last row to the first.
  logic [31:0] block_row;
  assign block_row = SEGMENT - 1 - beat;
  always_comb begin
    input_column = !(dataflow == 1);
    input_i = is ? coming.input_row + next_outer : now.input_row + (ns ? stream_inner : beat);
    input_j = is ? coming.input_column + next_inner + block_row : now.input_column + (ns ? beat : stream_inner);
    kernel_column = is;
    kernel_i = is ? now.weight_row + stream_inner :
        (ns ? now.weight_row + beat : coming.weight_row + next_inner + block_row);
    kernel_j = is ? now.weight_column + beat :
        (ns ? now.weight_column + stream_outer : coming.weight_column + next_outer);
  end

  // Lanes beyond the matrix read as zero. Data come a cycle after their request, and masks and tokens with them.
  logic [P1-1:0] left_lane;
  logic [ENTRIES*P2-1:0] top_lane;
  logic first, last, swap, preload;
  always_ff @(posedge clk) begin
    for (int r = 0; r < P1; r++) left_lane[r] <= streams && stream_inner + r < inner_extent;
    for (int g = 0; g < ENTRIES; g++)
      for (int s = 0; s < P2; s++)
        top_lane[g*P2+s] <= ns ? streams && stream_outer + s < outer_extent :
            preloads && next_inner + g * SEGMENT + block_row < inner_extent && next_outer + s < outer_extent;
    first <= ns && streams && beat == 0;
    last <= ns && streams && beat + 1 == stream_extent;
    swap <= !ns && streams && beat == 0;
    preload <= preloads && beat == 0;
  end

  logic [P1*OPERAND-1:0] left;
  logic [ENTRIES*P2*OPERAND-1:0] top;
  for (genvar r = 0; r < P1; r++) begin : gen_left
    assign left[r*OPERAND+:OPERAND] = !left_lane[r] ? '0 :
        (is ? kernel_data[r*OPERAND+:OPERAND] : input_data[r*OPERAND+:OPERAND]);
  end
  for (genvar g = 0; g < ENTRIES; g++) begin : gen_entry
    for (genvar s = 0; s < P2; s++) begin : gen_top
      assign top[(g*P2+s)*OPERAND+:OPERAND] = !top_lane[g*P2+s] ? '0 :
          (is ? input_data[(g*BANKS+s)*OPERAND+:OPERAND] : kernel_data[(g*BANKS+s)*OPERAND+:OPERAND]);
    end
  end

  logic unused_lanes;
  assign unused_lanes = ^{input_data, kernel_data};

  logic [P2*SUM-1:0] aligned;
  systolic_array #(
      .P1(P1),
      .P2(P2),
      .SEGMENT(SEGMENT),
      .OPERAND(OPERAND),
      .SUM(SUM)
  ) array (
      .clk, .reset, .stationary(!ns), .first, .last, .preload, .swap, .left, .top, .result(aligned)
  );

  // Collection: a token per result row (WS, IS) or per pass (NS), as late as the array's results.
  logic [LATENCY:0] past;
  logic arrives, collects, collect_ends, draining, unused_past;
  logic [31:0] place, row;
  delay_line #(.LENGTH(LATENCY)) collect_line (
      .clk, .reset, .token(ns ? streams && beat + 1 == stream_extent : streams), .past
  );
  assign arrives = past[LATENCY];
  assign unused_past = ^past[LATENCY-1:0];
  assign collects = arrives || draining;
  // In NS the rows of a pass leave from the last to the first; otherwise `place` counts upwards.
  assign row = ns ? P1 - 1 - place : place;
  assign collect_ends = collects && (ns ? place + 1 == P1 : place + 1 == stream_extent);

  logic [31:0] inner, outer;
  logic inner_last, outer_last, collect_last;
  pass_counter #(
      .P1(P1),
      .P2(P2)
  ) collect_counter (
      .clk, .start, .step(collect_ends), .inner_extent, .outer_extent, .calls, .inner, .outer, .call,
      .inner_last, .outer_last, .last(collect_last)
  );

  logic [31:0] offset, advance_by;
  logic [BANKS-1:0] covers;
  logic restart, advance;
  // Positions follow the rows of the patch: by P1 a pass (NS), by one a beat (WS), by P2 a round (IS).
  assign advance_by = ns ? P1 : (is ? P2 : 1);
  assign advance = ns ? collect_ends : (is ? collect_ends && inner_last : collects);
  assign restart = start || (collect_ends && (ns ? inner_last : (is ? inner_last && outer_last : 1'b1)));
  pad_accumulate #(
      .LANES(BANKS)
  ) patch (
      .clk, .restart, .advance, .advance_by, .width(patch_width), .out_rows, .out_columns,
      .shift_row(collected.shift_row), .shift_column(collected.shift_column), .offset, .covers
  );

  logic row_covered;
  assign row_covered = !patches || (ns ? covers[LOG_BANKS'(row)] : covers[0]);
  assign result_column = is;
  assign result_add = (!ns && inner != 0) || collected.adds[0];
  assign result_i = collected.result_row + (ns ? inner + row : (is ? outer : place)) + (patches ? offset : '0);
  assign result_j = collected.result_column + (is ? place : outer);
  for (genvar s = 0; s < BANKS; s++) begin : gen_result
    if (s < P2) begin : gen_used
      assign result_data[s*SUM+:SUM] = aligned[s*SUM+:SUM];
      assign result_lane[s] = collects && outer + s < outer_extent &&
          (is ? !patches || covers[s] : row_covered && (!ns || inner + row < inner_extent));
    end else begin : gen_unused
      assign result_data[s*SUM+:SUM] = '0;
      assign result_lane[s] = 1'b0;
    end
  end

  assign busy = state != IDLE;
  always_ff @(posedge clk) begin
    if (reset) begin
      state <= IDLE;
      draining <= 1'b0;
    end else begin
      case (state)
        IDLE: if (start) state <= ns ? STREAM : PRELOAD;
        PRELOAD: if (beat + 1 == SEGMENT) state <= STREAM;
        STREAM: if (pass_ends && stream_last) state <= DRAIN;
        default: if (collect_ends && collect_last) state <= IDLE;
      endcase
      if (start) draining <= 1'b0;
      else if (ns && collects) draining <= !collect_ends;
    end
    if (start) begin
      beat <= '0;
      place <= '0;
      next_over <= 1'b0;
    end else begin
      beat <= next_steps || state == IDLE ? '0 : beat + 1;
      if (collects) place <= collect_ends ? '0 : place + 1;
      if (next_steps && next_last) next_over <= 1'b1;
    end
  end
endmodule
