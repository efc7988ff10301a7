"""All that is known of the functions that programs call: rules, effects, memory, spelling."""
