"""A text whose instruction has a place in the program."""

TEXT = """HloModule jit_f

FileNames
1 "/home/user/model.py"

FunctionNames
1 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


ENTRY %main (x: f32[3]) -> f32[3] {
  %x = f32[3]{0} parameter(0)
  ROOT %bitwise.7 = f32[3]{0} negate(%x), metadata={op_name="jit(f)/my_marker/neg" stack_frame_id=1}
}
"""
