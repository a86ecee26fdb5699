// Fetches the control sequence word by word and starts its instructions one after another; after each of them
// it gives the cycles that the instruction ran, fetching not included.
//
// An instruction begins with a word {length, operation}: 0 stops until `resume` (for what runs beside the
// overlay), 1 is GEMM, 2 MOVE, 3 CALL (a line of the table of calls). The fields are those that overlay.sv takes apart.
module controller #(
    parameter int WORDS = 80
) (
    input logic clk,
    input logic reset,
    input logic resume,
    output logic [31:0] control_address,
    input logic [31:0] control_word,
    output logic [WORDS-1:0][31:0] field,
    output logic gemm_start,
    output logic move_start,
    output logic call_write,
    input logic busy,
    output logic log_valid,
    output logic [31:0] log_cycles,
    output logic done
);
  localparam logic [7:0] STOP = 0;
  localparam logic [7:0] GEMM = 1;
  localparam logic [7:0] MOVE = 2;
  localparam logic [7:0] CALL = 3;
  localparam int INDEX = $clog2(WORDS);

  typedef enum logic [2:0] {
    ASK,
    FETCH,
    START,
    SETTLE,
    RUN,
    HALT
  } state_t;
  state_t state;
  logic [31:0] taken, cycles, length;
  logic [7:0] operation;
  assign operation = field[0][7:0];
  assign length = taken == 0 ? 32'(control_word[31:8]) : 32'(field[0][31:8]);
  assign gemm_start = state == START && operation == GEMM;
  assign move_start = state == START && operation == MOVE;
  assign call_write = state == START && operation == CALL;
  assign log_valid = state == RUN && !busy;
  assign log_cycles = cycles;
  assign done = state == HALT;

  always_ff @(posedge clk) begin
    if (reset) begin
      state <= ASK;
      control_address <= '0;
      taken <= '0;
    end else begin
      case (state)
        ASK: begin
          // The word of this address is there in the next cycle.
          control_address <= control_address + 1;
          state <= FETCH;
        end
        FETCH: begin
          field[taken[INDEX-1:0]] <= control_word;
          if (taken + 1 == length) begin
            taken <= '0;
            state <= START;
          end else begin
            taken <= taken + 1;
            control_address <= control_address + 1;
          end
        end
        START: begin
          cycles <= 1;
          state <= operation == STOP ? HALT : (operation == CALL ? ASK : SETTLE);
        end
        SETTLE: state <= RUN;
        RUN: begin
          cycles <= cycles + 1;
          if (!busy) state <= ASK;
        end
        default: if (resume) state <= ASK;
      endcase
    end
  end
  logic unused;
  assign unused = ^taken[31:INDEX];
endmodule
