// Fetches the control sequence, a line of FETCH words a cycle, and hands its instructions to the units in order.
// A unit keeps its instruction, so that the next one is fetched while it runs; an instruction waits until its
// own unit is idle, and those of its `waits`.
//
// An instruction begins with a word {waits, lines, operation}. Units are 0 input mover, 1 kernel mover,
// 2 array, 3 output mover. Operations: 0 to 3 start the unit of that number, 4 is CALL (a line of the array's table of
// calls), 5 stops until `resume` (for what runs beside the overlay).
module controller #(
    parameter int WORDS = 80,
    parameter int FETCH = 8
) (
    input logic clk,
    input logic reset,
    input logic resume,
    output logic [31:0] control_address,
    input logic [FETCH*32-1:0] control_words,
    output logic [WORDS*32-1:0] field,
    output logic [3:0] start,
    output logic call_write,
    input logic [3:0] busy,
    output logic done
);
  localparam logic [7:0] CALL = 4;
  localparam logic [7:0] STOP = 5;
  localparam int LINES = WORDS / FETCH;

  typedef enum logic [1:0] {
    ASK,
    TAKE,
    READY,
    HALT
  } state_t;
  state_t state;
  logic [15:0] taken, lines;
  logic [7:0] operation;
  logic [3:0] own;
  logic starts;
  assign operation = field[7:0];
  assign lines = taken == 0 ? control_words[23:8] : field[23:8];
  assign own = operation < CALL ? 4'b1 << operation[1:0] : '0;
  assign starts = state == READY && (busy & (own | field[27:24])) == '0;
  assign start = starts ? own : '0;
  assign call_write = starts && operation == CALL;
  assign done = state == HALT;

  always_ff @(posedge clk) begin
    if (reset) begin
      state <= ASK;
      control_address <= '0;
      taken <= '0;
    end else begin
      case (state)
        ASK: begin
          // The line of this address is there in the next cycle.
          control_address <= control_address + 1;
          state <= TAKE;
        end
        TAKE: begin
          for (int k = 0; k < LINES; k++)
            if (taken == 16'(k)) field[FETCH*32*k+:FETCH*32] <= control_words;
          if (taken + 1 == lines) begin
            taken <= '0;
            state <= READY;
          end else begin
            taken <= taken + 1;
            control_address <= control_address + 1;
          end
        end
        READY: if (starts) state <= operation == STOP ? HALT : ASK;
        default: if (resume) state <= ASK;
      endcase
    end
  end
endmodule
