"""Conditions on rows (`--where`): their language, their types, and what they make of a row.

    condition = TEST | not CONDITION | CONDITION and|or CONDITION | ( CONDITION )
    test      = VALUE =|!=|<|<=|>|>= VALUE | VALUE ~|!~ 'REGEX' | VALUE is [not] null
              | VALUE [not] in ( LITERAL, … ) | VALUE [not] in PATH | PATH
              | PATH =|!= [ LITERAL, … ] | only( PATH, LITERAL, … )
    value     = PATH | LITERAL | len(PATH)
    literal   = 'text' | "text" | 12 | -1.5 | true | false

A path begins with a column and goes on with names of fields, keys of headers and indexes of lists:
`value.isr.0`, `headers.trace-id`; a part with other characters is quoted. A quote in a text is
written twice. A path alone is a boolean. `only(replicas, 1, 2)` is true of a list that has items,
and no others than these.

Nulls are those of SQL: a comparison with null, or of values of different kinds, is neither true nor
false, and `not` leaves it so. A row is kept if its condition is true. A field that a row has not is
null.
"""
