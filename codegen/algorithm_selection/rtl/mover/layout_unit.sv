// Layout-transformation unit: the state machine of Fig. 5, which walks over addresses, a row of lanes a step.
//
// States 1 to 3 of the figure are three of the levels here (windows, rows of a window, pixels of a row); the
// others serve rows of windows, channels, groups and the pieces of large kernels, which Table 1 leaves out. A level counts its visits and
// adds its step to the address where it last began. Beside the address goes the position {y, x} in the map;
// an element outside [low, high) is padding: read as the fill value, never written.
//
// One level, `lane_level`, counts rows of LANES adjacent elements, of which there are `lane_total`: the last
// row fills the first lanes only. `row` is its number.
module layout_unit #(
    parameter int LEVELS = 7,
    parameter int LOG_LANES = 2
) (
    input logic clk,
    input logic reset,
    input logic start,
    input logic step,
    input logic [31:0] base_address,
    input logic [31:0] base_position,
    input logic [31:0] low,
    input logic [31:0] high,
    input logic [31:0] lane_level,
    input logic [31:0] lane_total,
    input logic [LEVELS*32-1:0] count,
    input logic [LEVELS*32-1:0] address_step,
    input logic [LEVELS*32-1:0] position_step,
    output logic [31:0] address,
    output logic covered,
    output logic [2**LOG_LANES-1:0] lanes,
    output logic [31:0] row,
    output logic busy
);
  logic [LEVELS*32-1:0] visits, bases, places;
  logic [LEVELS-1:0] full, moves;
  logic ends;
  for (genvar k = 0; k < LEVELS; k++) begin : gen_level
    assign full[k] = visits[k*32+:32] + 1 >= count[k*32+:32];
    if (k == 0) begin : gen_inner
      assign moves[k] = !full[k];
    end else begin : gen_outer
      assign moves[k] = !full[k] && (&full[k-1:0]);
    end
  end
  assign ends = &full;
  assign address = bases[31:0];
  assign covered = places[31:16] >= low[31:16] && places[31:16] < high[31:16] &&
      places[15:0] >= low[15:0] && places[15:0] < high[15:0];

  logic [31:0] left;
  assign row = visits[32*lane_level[2:0]+:32];
  assign left = lane_total - (row << LOG_LANES);
  for (genvar k = 0; k < 2 ** LOG_LANES; k++) begin : gen_lane
    assign lanes[k] = k < left;
  end

  logic [31:0] address_next, place_next;
  always_comb begin
    address_next = '0;
    place_next = '0;
    for (int k = 0; k < LEVELS; k++)
      if (moves[k]) begin
        address_next = bases[k*32+:32] + address_step[k*32+:32];
        place_next = places[k*32+:32] + position_step[k*32+:32];
      end
  end

  always_ff @(posedge clk) begin
    if (reset) busy <= 1'b0;
    else if (start) busy <= 1'b1;
    else if (step && ends) busy <= 1'b0;
    if (start) begin
      for (int k = 0; k < LEVELS; k++) begin
        visits[k*32+:32] <= '0;
        bases[k*32+:32] <= base_address;
        places[k*32+:32] <= base_position;
      end
    end else if (step) begin
      for (int k = 0; k < LEVELS; k++) begin
        if (moves[k]) visits[k*32+:32] <= visits[k*32+:32] + 1;
        else if ((moves >> k) != '0) visits[k*32+:32] <= '0;
        if ((moves >> k) != '0) begin
          bases[k*32+:32] <= address_next;
          places[k*32+:32] <= place_next;
        end
      end
    end
  end
  logic unused;
  assign unused = ^lane_level[31:3];
endmodule
