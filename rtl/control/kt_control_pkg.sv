// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What control, registers and counters share: names of queues and errors, settings and status of a run, counted events.
package kt_control_pkg;

  import kt_cmd_pkg::*;
  import kt_csr_pkg::*;
  import kt_pkg::*;

  // Number of commands of one queue, as in the wait fields of a command
  localparam int unsigned CountW = 20;
  typedef logic [CountW-1:0] count_t;

  // Queues, as indices of arrays and bits of masks
  localparam int unsigned Queues  = 4;
  localparam int unsigned QLoad   = 0;
  localparam int unsigned QConv   = 1;
  localparam int unsigned QVector = 2;
  localparam int unsigned QStore  = 3;

  function automatic logic [1:0] queue_of(logic [3:0] op);
    case (op)
      OpConv:          return 2'(QConv);
      OpWindow, OpAdd: return 2'(QVector);
      OpStore:         return 2'(QStore);
      default:         return 2'(QLoad);
    endcase
  endfunction

  // Details of an error, register error_info
  typedef logic [9:0] info_t;

  // Rows that arrive from outside, as in wait_arrived of a command and in register arrived
  localparam int unsigned ArrivedW = 12;
  typedef logic [ArrivedW-1:0] arrived_t;

  // From the registers, constant during a run but for `arrived`
  typedef struct packed {
    arrived_t    arrived;
    logic [39:0] program_addr;  // multiple of 64
    index_t      command_count;
    logic [31:0] watchdog;      // cycles, 0: off
  } settings_t;

  // To the registers
  typedef struct packed {
    logic [9:0]   row;            // of a corrupt one
    logic         busy;
    logic         done;
    logic         error;
    logic         resetting;
    logic         run_completed;  // pulses
    logic         run_stopped;
    error_cause_e cause;
    index_t       index;
    info_t        info;
    logic [Queues-1:0][CountW-1:0] completed;
  } status_t;

  // What the performance counters count. Events stand in the reverse order of their counters, so that kt_counters takes
  // them in a few slices. Byte counts go with a flag: a cycle without a request costs nothing in simulation.
  typedef struct packed {
    logic        start;          // a run begins
    logic        running;
    logic        fetch;          // the command fetch asks for fetch_bytes
    logic [19:0] fetch_bytes;
    logic                          load_arrived; // LOAD could start its head, rows from outside are missing
    logic [Queues-1:0]             no_command;  // [queue]: its engine could start a command, the queue is empty
    logic [Queues-1:0][Queues-1:0] waits;       // [queue][count]: could start its head, this count does not hold
  } control_events_t;

  typedef struct packed {
    logic        zvc_read;          // with a request of LOAD, of STORE: it belongs to compression ...
    logic [19:0] zvc_read_raw;      // ... and stands for so many bytes
    logic        zvc_written;
    logic [19:0] zvc_written_raw;
    logic        read_rows;         // LOAD asks the read master for read_bytes, for this operation
    logic        read_weights;
    logic        read_params;
    logic [19:0] read_bytes;
    logic        written;           // STORE hands a request for written_bytes to the write master
    logic [19:0] written_bytes;
    logic        beat_written;      // WVALID and WREADY
    logic        beat_read;         // RVALID and RREADY
    logic        load_conflict;     // words of LOAD wait for a bank
    logic        vector_conflict;   // results of the vector engine wait for a bank
    logic        vector_busy;       // the vector engine takes a column of operands
    logic        array_no_output;   // there is no room for results, and none of the reasons below
    logic        array_no_weights;  // weights or parameters are on their way, and none of the reasons below
    logic        array_no_rows;     // words of SB are on their way
    logic        array_no_command;  // there is no CONV command
    logic        array_busy;        // the array takes a window
  } engine_events_t;

endpackage
