"""Every cell of what `grad` and its companions promise, and the tests that hold it to that.

A row is what is promised; behind it stand the tests, `folder/file:test` without `test_`; what is in
`oracles` and `normalize/no_grad` asks torch itself.  `test_semantics` checks that each is there.
"""

INTERFACE = {
    "a call, `@T`, `@T(...)`":
    "api/grad:a_transform_as_a_call_and_as_a_decorator api/grad:grad_as_a_decorator "
    "api/grad:grad_as_a_decorator_with_options api/jacobian:decorators",
    "name, docstring, signature":
    "api/grad:a_transform_as_a_call_and_as_a_decorator "
    "api/grad:keeps_name_docstring_and_signature",
    "pickles":
    "api/grad:pickles api/grad:pickles_value_and_grad_and_copies "
    "api/grad:a_transform_as_a_call_and_as_a_decorator api/batch:a_batched_gradient_pickles",
    "threads": "api/grad:threads api/grad:a_transform_in_threads",
    "`.source`, `.primal`": "api/grad:has_source api/grad:a_transform_as_a_call_and_as_a_decorator",
    "grad":
    "api/grad:grad_as_a_call oracles/conformance:grad_is_that_of_torch "
    "oracles/conformance:values_of_other_forms",
    "value_and_grad":
    "api/grad:value_and_grad api/grad:value_and_grad_as_a_decorator "
    "api/grad:value_of_several_outputs",
    "vjp":
    "api/vjp:vjp_pulls_back_any_number_of_times api/vjp:vjp_with_inputs_and_release "
    "api/vjp:vjp_without_retaining api/vjp:vjp_of_a_loop_twice",
    "jvp, linearize":
    "api/jvp:jvp_of_several_arguments api/jvp:linearize api/jvp:linearize_keeps_the_point "
    "api/jvp:tangent_that_does_not_fit",
    "jacobian":
    "api/jacobian:jacobian_of_several api/jacobian:jacobian_has_the_shape_of_output_and_input "
    "api/jacobian:jacobian_takes_the_smaller_batch api/jacobian:jacobian_with_an_unknown_mode "
    "oracles/torch_semantics:jacobians_and_hessians",
    "hessian, hvp, vhp":
    "api/jacobian:hessian api/jacobian:products_with_the_hessian "
    "api/jacobian:hessian_needs_one_number oracles/torch_semantics:jacobians_and_hessians",
    "backward":
    "api/run:backward_into_buffers api/run:a_new_entry_is_a_copy "
    "api/run:backward_into_positions_a_list_an_array_and_a_structure api/run:all_or_nothing",
    "run":
    "api/run:value_and_inputs api/run:runs_once api/run:release "
    "api/run:unknown_outputs_and_inputs",
    "autograd.grad, autograd.backward":
    "api/run:signatures_are_torchs api/run:only_inputs_warns api/run:wrong_arguments "
    "oracles/torch_semantics:backward_accumulates oracles/torch_semantics:only_inputs",
    "differentiable":
    "api/differentiable:differentiable_leaves_the_function_as_it_is "
    "api/differentiable:differentiable_with_options "
    "api/jacobian:derivatives_of_a_differentiable_function",
    "source, stages":
    "api/grad:source_without_calling api/grad:stages_show_the_text_after_every_pass",
    "generate": "backends/standalone:golden_programs_alone cli/commands:command",
    "stop_gradient": "api/grad:stop_gradient_is_the_identity api/grad:stop_gradient_is_a_constant",
    "no_grad, enable_grad, set_grad_enabled":
    "normalize/no_grad:modes_mean_what_they_mean_to_torch "
    "normalize/no_grad:modes_are_no_ops_when_run",
    "checkpoint, checkpointed":
    "runtime/checkpoint:a_checkpointed_call_has_the_same_gradient "
    "runtime/checkpoint:the_steps_that_run_again_are_the_fewest "
    "frontend/desugar/flatten:ten_thousand_steps_through_grad",
    "saved_hooks":
    "autodiff/saved_hooks:what_is_saved_goes_through_the_hooks "
    "autodiff/saved_hooks:the_innermost_context_holds autodiff/saved_hooks:hooks_of_torch",
    "gradcheck, gradgradcheck, check_rule":
    "api/gradcheck:what_is_right_passes api/gradcheck:what_is_wrong_is_found "
    "api/gradcheck:gradgradcheck api/gradcheck:check_rule "
    "api/gradcheck:kinks_are_called_so_in_every_mode "
    "api/gradcheck:gradients_that_are_not_the_same_again "
    "api/gradcheck:a_batch_that_is_wrong_is_found api/gradcheck:a_dtype_that_is_wrong_is_found "
    "api/gradcheck:the_step api/gradcheck:gradgradcheck_takes_the_parameters_of_gradcheck",
    "hook": "normalize/no_grad:a_hook_changes_the_adjoint normalize/no_grad:hooks_of_torch",
    "detect_anomaly": "driver/anomaly:inside_of_a_context driver/anomaly:as_a_decorator",
    "profile": "api/profile:times_and_bytes_by_line",
    "inputs: a position, a name": "api/grad:inputs_by_position_and_by_name",
    "inputs: a path":
    "api/grad:path_into_a_parameter specialize/objects:bound_method_by_attributes",
    "inputs: bare, tuple, list, dict":
    "api/grad:bare_input_gives_bare_gradient api/grad:several_inputs_give_a_tuple "
    "api/grad:one_input_in_a_tuple_gives_a_tuple api/grad:dict_of_inputs_gives_a_dict",
    "outputs: all": "api/grad:all_outputs_by_default",
    "outputs: a position, a key": "api/grad:output_by_position api/grad:output_by_key",
    "outputs: a tuple":
    "api/grad:several_outputs_contribute_their_sum "
    "semantics:a_position_and_a_parameter_as_outputs",
    "outputs: a parameter":
    "api/grad:kernel_that_returns_nothing api/grad:mutated_parameter_and_returned_value",
    "the caller's arrays and containers stay":
    "api/grad:gradients_are_like_their_inputs api/grad:tuple_of_arrays_that_is_written_into "
    "semantics:cotangent_is_not_changed",
    "what is done once is done once":
    "api/grad:effects_happen_once api/grad:printing_happens_once "
    "api/grad:random_numbers_are_drawn_once",
    "gradients alias nothing and are writable":
    "api/grad:gradient_does_not_alias api/grad:gradients_of_a_sum_do_not_alias_each_other",
    "shape, dtype, structure, None at leaves without numbers":
    "api/grad:gradients_are_like_their_inputs api/grad:structure_of_an_input_is_kept "
    "api/grad:float_gives_float_and_array_gives_array",
}

PARAMETERS = {
    "outputs: the sum of several":
    "api/grad:several_outputs_contribute_their_sum api/run:several_outputs_are_summed "
    "oracles/conformance:grad_is_that_of_torch",
    "outputs: integers and so on take no cotangent":
    "api/grad:integer_outputs_take_no_cotangent "
    "semantics:integers_truth_values_none_and_texts_take_no_cotangent",
    "outputs: an unknown one": "api/grad:unknown_output semantics:errors_of_transform_time",
    "outputs: one that no input reaches":
    "semantics:output_that_no_input_reaches "
    "semantics:an_output_without_a_derivative_is_reached_by_no_input",
    "inputs: the same twice":
    "api/grad:same_input_twice_gives_two_equal_results api/grad:same_input_twice_shares_no_memory "
    "oracles/torch_semantics:the_same_input_and_output_twice",
    "inputs: an unknown name": "semantics:unknown_input_lists_the_known_ones",
    "inputs: none": "semantics:empty_inputs oracles/torch_semantics:errors",
    "inputs: an integer":
    "semantics:integer_input semantics:errors_of_transform_time oracles/torch_semantics:errors",
    "grad_outputs: None for one real element":
    "semantics:one_real_element_of_any_rank_needs_no_cotangent "
    "oracles/torch_semantics:one_element_needs_no_cotangent "
    "oracles/torch_semantics:none_among_several_cotangents",
    "grad_outputs: a number for no axes": "semantics:a_number_for_a_0d_output",
    "grad_outputs: missing":
    "semantics:non_scalar_output_needs_one semantics:complex_output_needs_one "
    "oracles/torch_semantics:errors",
    "grad_outputs: number of them": "semantics:too_many_cotangents",
    "grad_outputs: exact shape":
    "semantics:shape_is_exact semantics:cotangent_of_wrong_shape_or_complex "
    "oracles/torch_semantics:errors",
    "grad_outputs: complex for real, real for complex":
    "semantics:cotangent_of_wrong_shape_or_complex semantics:real_cotangent_of_a_complex_output "
    "oracles/torch_semantics:errors",
    "grad_outputs: type": "semantics:cotangent_of_wrong_type oracles/torch_semantics:errors",
    "grad_outputs: NumPy and CuPy": "backends/cupy:cotangents_of_the_other_module",
    "grad_outputs: expected, given, the line":
    "semantics:expected_and_given_and_the_return_line semantics:error_shows_the_return_line",
    "grad_outputs: another real dtype":
    "semantics:cotangent_of_another_real_dtype "
    "semantics:cotangent_does_not_widen_single_precision "
    "oracles/torch_semantics:cotangents_of_other_dtypes",
    "retain_graph: False frees":
    "api/run:a_graph_is_freed_unless_it_is_retained api/vjp:vjp_without_retaining "
    "oracles/torch_semantics:retained_and_released",
    "retain_graph: an error never releases":
    "semantics:an_error_never_releases api/run:an_error_does_not_release",
    "create_graph: None":
    "api/grad:second_order api/grad:third_order "
    "api/grad:a_gradient_inside_is_differentiated_unless_it_is_detached",
    "create_graph: False":
    "api/grad:a_detached_gradient_has_none_itself "
    "oracles/torch_semantics:a_detached_gradient_is_a_constant",
    "create_graph: True on a run":
    "api/run:gradients_that_are_outputs_again api/run:third_order "
    "oracles/torch_semantics:create_graph api/run:accumulated_gradients_are_outputs_again",
    "only_inputs": "api/run:only_inputs_warns oracles/torch_semantics:only_inputs",
    "allow_unused: the error with its reason":
    "semantics:the_reason_why_an_input_is_unused "
    "semantics:unused_input_is_an_error_with_the_reason oracles/torch_semantics:errors",
    "allow_unused: True":
    "semantics:unused_input_allowed_gives_none oracles/torch_semantics:unused_inputs",
    "allow_unused: a path that is not taken": "semantics:a_path_not_taken_gives_zeros",
    "allow_unused=False, materialize_grads=True":
    "semantics:allow_unused_false_with_materialize_grads oracles/torch_semantics:errors",
    "materialize_grads":
    "semantics:unused_input_materialised_gives_zeros "
    "api/batch:a_zero_of_a_batch_has_the_batch_axis oracles/torch_semantics:unused_inputs",
    "is_grads_batched":
    "api/batch:a_batch_of_cotangents api/batch:an_empty_batch "
    "api/batch:a_batch_runs_the_function_once oracles/torch_semantics:batches",
    "is_grads_batched: unequal, missing":
    "api/batch:unequal_batches api/batch:a_missing_batch_axis oracles/torch_semantics:errors",
    "has_aux": "api/grad:auxiliary_value api/grad:has_aux_needs_a_pair",
    "workspace":
    "runtime/workspace:programs_have_the_same_gradients "
    "runtime/workspace:what_is_held_in_any_way_stays_as_it_is "
    "runtime/workspace:never_twice_what_is_in_use "
    "runtime/workspace:a_later_call_makes_no_large_array "
    "runtime/workspace:with_every_other_option runtime/workspace:derivatives_of_it",
    "backward: in place, the first a copy":
    "api/run:backward_into_buffers api/run:a_new_entry_is_a_copy "
    "oracles/torch_semantics:backward_accumulates",
    "backward: wrong shape, dtype, read-only": "api/run:all_or_nothing",
}

CONVENTIONS = {
    "abs, sign, floor":
    "semantics:abs_and_sign_at_zero semantics:kinks oracles/torch_semantics:kinks",
    "maximum, minimum": "semantics:ties_of_maximum_and_minimum oracles/torch_semantics:kinks",
    "max, min": "semantics:ties_of_reductions_share oracles/torch_semantics:kinks",
    "clip": "semantics:clip_at_its_bounds oracles/torch_semantics:kinks",
    "sort": "semantics:kinks oracles/torch_semantics:kinks",
    "sqrt": "semantics:square_root_at_zero oracles/torch_semantics:kinks",
    "x**0, 0**b": "semantics:powers_at_zero semantics:kinks oracles/torch_semantics:kinks",
    "norm, std": "semantics:spread_at_zero semantics:kinks oracles/torch_semantics:kinks",
    "hypot": "semantics:hypot_at_zero oracles/torch_semantics:kinks",
    "arctan2, sinc": "semantics:arctan2_at_zero semantics:kinks oracles/torch_semantics:kinks",
    "prod, cumprod": "semantics:product_with_zeros semantics:kinks oracles/torch_semantics:kinks",
    "where": "semantics:untaken_branch_of_where_flows oracles/torch_semantics:kinks",
    "strong_zeros":
    "api/grad:strong_zeros api/grad:strong_zeros_at_order_two "
    "api/grad:strong_zeros_in_functions_that_are_called",
    "det":
    "semantics:kinks semantics:second_derivatives_at_singular_spots oracles/torch_semantics:kinks",
    "repeated indices, read": "semantics:repeated_indices oracles/torch_semantics:kinks",
    "repeated indices, stored":
    "semantics:repeated_indices "
    "oracles/torch_semantics:a_store_with_repeated_indices_differs_on_purpose",
    "complex": "semantics:complex_convention oracles/torch_semantics:complex_gradients",
    "real inputs of complex functions": "semantics:gradient_of_a_real_input_is_real",
    "single precision": "semantics:single_precision_stays",
    "linear functions at order two":
    "semantics:linear_function_at_order_two oracles/torch_semantics:linear_at_order_two "
    "oracles/torch_semantics:errors",
}

ERRORS = {
    "TransformError": "errors:unknown_input_name semantics:errors_of_transform_time",
    "UnsupportedError": "errors:unsupported_statement semantics:errors_of_transform_time",
    "MissingRuleError": "errors:missing_rule semantics:errors_of_transform_time",
    "UnusedInputError": "semantics:errors_of_transform_time oracles/torch_semantics:errors",
    "CotangentError": "semantics:errors_of_call_time oracles/torch_semantics:errors",
    "CotangentTypeError": "semantics:errors_of_call_time oracles/torch_semantics:errors",
    "DtypeError": "semantics:errors_of_call_time semantics:errors_of_transform_time",
    "ReleasedError": "semantics:errors_of_call_time oracles/torch_semantics:errors",
    "SavedValueError": "autodiff/saved_hooks:unpack_gives_something_else",
    "AnomalyError":
    "semantics:errors_of_call_time driver/anomaly:the_line_the_variable_and_the_counters",
    "their builtin bases": "errors:error_classes",
    "refused before anything runs": "errors:refused_at_transform_time_not_after_running",
}

CELLS = {**INTERFACE, **PARAMETERS, **CONVENTIONS, **ERRORS}
