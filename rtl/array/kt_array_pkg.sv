// Types of the DPE array.
package kt_array_pkg;

  // Tap modes of a CONV command: what the nine words of a window are. In the last two a read is a whole window.
  typedef enum logic [1:0] {
    Mode3x3,    // three columns of three rows
    Mode1x1,    // nine channel groups of one pixel
    ModeColumn  // three channel groups of one column of three rows
  } mode_e;

  // Control that travels with the activations through the array.
  typedef struct packed {
    logic valid;
    logic swap;   // first pixel of a pass: the shadow weights become current
    logic first;  // first pass: ignore what OB holds
    logic last;   // last pass: the sum goes to the requantiser instead of OB
  } token_t;

endpackage
