// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

  // Included inside a harness of the vector engine: how a row of a large window's kernel is split, by definition.
  function automatic logic [3:0] tile_offset(logic [3:0] kernel_columns, logic [1:0] t);  // first column of kernel tile t
    if (t == 2'd0) return 4'd0;
    if (t == 2'd1) return (kernel_columns <= 4'd3) ? kernel_columns : (kernel_columns == 4'd4) ? 4'd2 : 4'd3;
    if (t == 2'd2) return (kernel_columns <= 4'd6) ? kernel_columns : (kernel_columns == 4'd7) ? 4'd5 : 4'd6;
    return kernel_columns;
  endfunction
  function automatic logic [1:0] last_tile_of(logic [3:0] kernel_columns);
    return (kernel_columns > 4'd6) ? 2'd2 : (kernel_columns > 4'd3) ? 2'd1 : 2'd0;
  endfunction
  function automatic logic [1:0] tile_columns(logic [3:0] kernel_columns, logic [1:0] t);
    return 2'(tile_offset(kernel_columns, t + 2'd1) - tile_offset(kernel_columns, t));
  endfunction
  function automatic logic [3:0] tile_first(vec_cmd_t cmd, logic [1:0] t);  // column of the map, the first one read
    return (tile_offset(cmd.kernel_columns[3:0], t) > cmd.pad_left) ? tile_offset(cmd.kernel_columns[3:0], t) - cmd.pad_left : 4'd0;
  endfunction
  function automatic logic signed [13:0] last_window(vec_cmd_t cmd);  // its first column, strides 1 and 2
    return ((cmd.stride == 4'd2) ? 14'({cmd.columns - 10'd1, 1'b0}) : 14'(cmd.columns - 10'd1)) - 14'(cmd.pad_left);
  endfunction
  function automatic logic [9:0] tile_steps(vec_cmd_t cmd, logic [1:0] t);
    automatic logic signed [13:0] last = last_window(cmd) + 14'(tile_offset(cmd.kernel_columns[3:0], t + 2'd1));
    return ((last < $signed(14'(cmd.in_width))) ? last[9:0] : cmd.in_width) - 10'(tile_first(cmd, t));
  endfunction
  function automatic logic is_tiled(vec_cmd_t cmd);
    return cmd.kind != KindAdd && (cmd.kernel_rows > 8'd3 || cmd.kernel_columns > 8'd3) && cmd.kernel_rows <= 8'd9 &&
           cmd.kernel_columns <= 8'd9 && (cmd.stride == 4'd0 || cmd.stride == 4'd1 || cmd.stride == 4'd2) &&
           cmd.stride < cmd.kernel_columns[3:0] && cmd.pad_left < cmd.kernel_columns[3:0] && cmd.columns >= 10'd4 && cmd.columns <= 10'd128 &&
           last_window(cmd) + $signed(14'(tile_offset(cmd.kernel_columns[3:0], 2'd1))) > 0 &&
           10'(tile_first(cmd, last_tile_of(cmd.kernel_columns[3:0]))) < cmd.in_width;
  endfunction
