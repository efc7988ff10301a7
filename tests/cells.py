"""Every cell of what `grad` and its companions promise, and the tests that hold it to that.

A row is what is promised; behind it stand the tests, `file:test` without `test_`; what is in
`torch_semantics`, `conformance` and `modes` asks torch itself.  `test_semantics` checks that each
is there.
"""

INTERFACE = {
    "a call, `@T`, `@T(...)`": "interface:a_transform_as_a_call_and_as_a_decorator "
    "interface:grad_as_a_decorator interface:grad_as_a_decorator_with_options dense:decorators",
    "name, docstring, signature": "interface:a_transform_as_a_call_and_as_a_decorator "
    "interface:keeps_name_docstring_and_signature",
    "pickles": "interface:pickles interface:pickles_value_and_grad_and_copies "
    "interface:a_transform_as_a_call_and_as_a_decorator parameters:a_batched_gradient_pickles",
    "threads": "interface:threads interface:a_transform_in_threads",
    "`.source`, `.primal`": "interface:has_source "
    "interface:a_transform_as_a_call_and_as_a_decorator",
    "grad": "interface:grad_as_a_call conformance:grad_is_that_of_torch "
    "conformance:values_of_other_forms",
    "value_and_grad": "interface:value_and_grad interface:value_and_grad_as_a_decorator "
    "interface:value_of_several_outputs",
    "vjp": "interface:vjp_pulls_back_any_number_of_times interface:vjp_with_inputs_and_release "
    "interface:vjp_without_retaining interface:vjp_of_a_loop_twice",
    "jvp, linearize": "dense:jvp_of_several_arguments dense:linearize "
    "dense:linearize_keeps_the_point dense:tangent_that_does_not_fit",
    "jacobian": "dense:jacobian_of_several dense:jacobian_has_the_shape_of_output_and_input "
    "dense:jacobian_takes_the_smaller_batch dense:jacobian_with_an_unknown_mode "
    "torch_semantics:jacobians_and_hessians",
    "hessian, hvp, vhp": "dense:hessian dense:products_with_the_hessian "
    "dense:hessian_needs_one_number torch_semantics:jacobians_and_hessians",
    "backward": "run:backward_into_buffers run:a_new_entry_is_a_copy "
    "run:backward_into_positions_a_list_an_array_and_a_structure run:all_or_nothing",
    "run": "run:value_and_inputs run:runs_once run:release run:unknown_outputs_and_inputs",
    "autograd.grad, autograd.backward": "run:signatures_are_torchs run:only_inputs_warns "
    "run:wrong_arguments torch_semantics:backward_accumulates torch_semantics:only_inputs",
    "differentiable": "interface:differentiable_leaves_the_function_as_it_is "
    "interface:differentiable_with_options dense:derivatives_of_a_differentiable_function",
    "source, stages": "interface:source_without_calling "
    "interface:stages_show_the_text_after_every_pass",
    "generate": "standalone:golden_programs_alone cli:command",
    "stop_gradient": "interface:stop_gradient_is_the_identity "
    "interface:stop_gradient_is_a_constant",
    "no_grad, enable_grad, set_grad_enabled": "modes:modes_mean_what_they_mean_to_torch "
    "modes:modes_are_no_ops_when_run",
    "checkpoint, checkpointed": "recompute:a_checkpointed_call_has_the_same_gradient "
    "schedules:the_steps_that_run_again_are_the_fewest stops:ten_thousand_steps_through_grad",
    "saved_hooks": "saving:what_is_saved_goes_through_the_hooks "
    "saving:the_innermost_context_holds saving:hooks_of_torch",
    "gradcheck, gradgradcheck, check_rule": "check:what_is_right_passes "
    "check:what_is_wrong_is_found check:gradgradcheck check:check_rule "
    "check:kinks_are_called_so_in_every_mode check:gradients_that_are_not_the_same_again "
    "check:a_batch_that_is_wrong_is_found check:a_dtype_that_is_wrong_is_found check:the_step "
    "check:gradgradcheck_takes_the_parameters_of_gradcheck",
    "hook": "modes:a_hook_changes_the_adjoint modes:hooks_of_torch",
    "detect_anomaly": "anomaly:inside_of_a_context anomaly:as_a_decorator",
    "profile": "profile:times_and_bytes_by_line",
    "inputs: a position, a name": "interface:inputs_by_position_and_by_name",
    "inputs: a path": "interface:path_into_a_parameter objects:bound_method_by_attributes",
    "inputs: bare, tuple, list, dict": "interface:bare_input_gives_bare_gradient "
    "interface:several_inputs_give_a_tuple interface:one_input_in_a_tuple_gives_a_tuple "
    "interface:dict_of_inputs_gives_a_dict",
    "outputs: all": "interface:all_outputs_by_default",
    "outputs: a position, a key": "interface:output_by_position interface:output_by_key",
    "outputs: a tuple": "interface:several_outputs_contribute_their_sum "
    "semantics:a_position_and_a_parameter_as_outputs",
    "outputs: a parameter": "interface:kernel_that_returns_nothing "
    "interface:mutated_parameter_and_returned_value",
    "the caller's arrays and containers stay": "interface:gradients_are_like_their_inputs "
    "interface:tuple_of_arrays_that_is_written_into semantics:cotangent_is_not_changed",
    "what is done once is done once": "interface:effects_happen_once "
    "interface:printing_happens_once interface:random_numbers_are_drawn_once",
    "gradients alias nothing and are writable": "interface:gradient_does_not_alias "
    "interface:gradients_of_a_sum_do_not_alias_each_other",
    "shape, dtype, structure, None at leaves without numbers":
    "interface:gradients_are_like_their_inputs interface:structure_of_an_input_is_kept "
    "interface:float_gives_float_and_array_gives_array",
}

PARAMETERS = {
    "outputs: the sum of several": "interface:several_outputs_contribute_their_sum "
    "run:several_outputs_are_summed conformance:grad_is_that_of_torch",
    "outputs: integers and so on take no cotangent": "interface:integer_outputs_take_no_cotangent "
    "semantics:integers_truth_values_none_and_texts_take_no_cotangent",
    "outputs: an unknown one": "interface:unknown_output semantics:errors_of_transform_time",
    "outputs: one that no input reaches": "semantics:output_that_no_input_reaches "
    "semantics:an_output_without_a_derivative_is_reached_by_no_input",
    "inputs: the same twice": "interface:same_input_twice_gives_two_equal_results "
    "interface:same_input_twice_shares_no_memory "
    "torch_semantics:the_same_input_and_output_twice",
    "inputs: an unknown name": "semantics:unknown_input_lists_the_known_ones",
    "inputs: none": "semantics:empty_inputs torch_semantics:errors",
    "inputs: an integer": "semantics:integer_input semantics:errors_of_transform_time "
    "torch_semantics:errors",
    "grad_outputs: None for one real element":
    "semantics:one_real_element_of_any_rank_needs_no_cotangent "
    "torch_semantics:one_element_needs_no_cotangent "
    "torch_semantics:none_among_several_cotangents",
    "grad_outputs: a number for no axes": "semantics:a_number_for_a_0d_output",
    "grad_outputs: missing": "semantics:non_scalar_output_needs_one "
    "semantics:complex_output_needs_one torch_semantics:errors",
    "grad_outputs: number of them": "semantics:too_many_cotangents",
    "grad_outputs: exact shape": "semantics:shape_is_exact "
    "semantics:cotangent_of_wrong_shape_or_complex torch_semantics:errors",
    "grad_outputs: complex for real, real for complex":
    "semantics:cotangent_of_wrong_shape_or_complex "
    "semantics:real_cotangent_of_a_complex_output torch_semantics:errors",
    "grad_outputs: type": "semantics:cotangent_of_wrong_type torch_semantics:errors",
    "grad_outputs: NumPy and CuPy": "cupy:cotangents_of_the_other_module",
    "grad_outputs: expected, given, the line": "semantics:expected_and_given_and_the_return_line "
    "semantics:error_shows_the_return_line",
    "grad_outputs: another real dtype": "semantics:cotangent_of_another_real_dtype "
    "semantics:cotangent_does_not_widen_single_precision "
    "torch_semantics:cotangents_of_other_dtypes",
    "retain_graph: False frees": "run:a_graph_is_freed_unless_it_is_retained "
    "interface:vjp_without_retaining torch_semantics:retained_and_released",
    "retain_graph: an error never releases": "semantics:an_error_never_releases "
    "run:an_error_does_not_release",
    "create_graph: None": "interface:second_order interface:third_order "
    "parameters:a_gradient_inside_is_differentiated_unless_it_is_detached",
    "create_graph: False": "parameters:a_detached_gradient_has_none_itself "
    "torch_semantics:a_detached_gradient_is_a_constant",
    "create_graph: True on a run": "run:gradients_that_are_outputs_again run:third_order "
    "torch_semantics:create_graph accumulated:accumulated_gradients_are_outputs_again",
    "only_inputs": "run:only_inputs_warns torch_semantics:only_inputs",
    "allow_unused: the error with its reason": "semantics:the_reason_why_an_input_is_unused "
    "semantics:unused_input_is_an_error_with_the_reason torch_semantics:errors",
    "allow_unused: True": "semantics:unused_input_allowed_gives_none torch_semantics:unused_inputs",
    "allow_unused: a path that is not taken": "semantics:a_path_not_taken_gives_zeros",
    "allow_unused=False, materialize_grads=True":
    "semantics:allow_unused_false_with_materialize_grads torch_semantics:errors",
    "materialize_grads": "semantics:unused_input_materialised_gives_zeros "
    "parameters:a_zero_of_a_batch_has_the_batch_axis torch_semantics:unused_inputs",
    "is_grads_batched": "parameters:a_batch_of_cotangents parameters:an_empty_batch "
    "parameters:a_batch_runs_the_function_once torch_semantics:batches",
    "is_grads_batched: unequal, missing": "parameters:unequal_batches "
    "parameters:a_missing_batch_axis torch_semantics:errors",
    "has_aux": "parameters:auxiliary_value interface:has_aux_needs_a_pair",
    "workspace": "workspaces:programs_have_the_same_gradients "
    "workspaces:what_is_held_in_any_way_stays_as_it_is workspaces:never_twice_what_is_in_use "
    "workspaces:the_second_call_makes_no_large_array workspaces:with_every_other_option "
    "workspaces:derivatives_of_it",
    "backward: in place, the first a copy": "run:backward_into_buffers run:a_new_entry_is_a_copy "
    "torch_semantics:backward_accumulates",
    "backward: wrong shape, dtype, read-only": "run:all_or_nothing",
}

CONVENTIONS = {
    "abs, sign, floor": "semantics:abs_and_sign_at_zero semantics:kinks torch_semantics:kinks",
    "maximum, minimum": "semantics:ties_of_maximum_and_minimum torch_semantics:kinks",
    "max, min": "semantics:ties_of_reductions_share torch_semantics:kinks",
    "clip": "semantics:clip_at_its_bounds torch_semantics:kinks",
    "sort": "semantics:kinks torch_semantics:kinks",
    "sqrt": "semantics:square_root_at_zero torch_semantics:kinks",
    "x**0, 0**b": "semantics:powers_at_zero semantics:kinks torch_semantics:kinks",
    "norm, std": "semantics:spread_at_zero semantics:kinks torch_semantics:kinks",
    "hypot": "semantics:hypot_at_zero torch_semantics:kinks",
    "arctan2, sinc": "semantics:arctan2_at_zero semantics:kinks torch_semantics:kinks",
    "prod, cumprod": "semantics:product_with_zeros semantics:kinks torch_semantics:kinks",
    "where": "semantics:untaken_branch_of_where_flows torch_semantics:kinks",
    "strong_zeros": "parameters:strong_zeros parameters:strong_zeros_at_order_two "
    "parameters:strong_zeros_in_functions_that_are_called",
    "det": "semantics:kinks semantics:second_derivatives_at_singular_spots torch_semantics:kinks",
    "repeated indices, read": "semantics:repeated_indices torch_semantics:kinks",
    "repeated indices, stored": "semantics:repeated_indices "
    "torch_semantics:a_store_with_repeated_indices_differs_on_purpose",
    "complex": "semantics:complex_convention torch_semantics:complex_gradients",
    "real inputs of complex functions": "semantics:gradient_of_a_real_input_is_real",
    "single precision": "semantics:single_precision_stays",
    "linear functions at order two": "semantics:linear_function_at_order_two "
    "torch_semantics:linear_at_order_two torch_semantics:errors",
}

ERRORS = {
    "TransformError": "errors:unknown_input_name semantics:errors_of_transform_time",
    "UnsupportedError": "errors:unsupported_statement semantics:errors_of_transform_time",
    "MissingRuleError": "errors:missing_rule semantics:errors_of_transform_time",
    "UnusedInputError": "semantics:errors_of_transform_time torch_semantics:errors",
    "CotangentError": "semantics:errors_of_call_time torch_semantics:errors",
    "CotangentTypeError": "semantics:errors_of_call_time torch_semantics:errors",
    "DtypeError": "semantics:errors_of_call_time semantics:errors_of_transform_time",
    "ReleasedError": "semantics:errors_of_call_time torch_semantics:errors",
    "SavedValueError": "saving:unpack_gives_something_else",
    "AnomalyError": "semantics:errors_of_call_time anomaly:the_line_the_variable_and_the_counters",
    "their builtin bases": "errors:error_classes",
    "refused before anything runs": "errors:refused_at_transform_time_not_after_running",
}

CELLS = {**INTERFACE, **PARAMETERS, **CONVENTIONS, **ERRORS}
