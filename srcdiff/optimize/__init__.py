"""The same function, smaller: equal values computed once, plainer forms, what nobody needs gone."""
