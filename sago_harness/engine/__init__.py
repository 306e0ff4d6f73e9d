"""The fast path of Hugging Face models: all signals for less than plain generation.

Read ``path.py`` first. A document's prompts share most of their text, and the canonical
response, which every variant's pass has to force anyway, is an exact draft of the variant's
own greedy response::

    eligible   may this model, with these generation arguments, take the fast path?
    path       which rows there are, and what each of them still lacks
    schedule   which rows go into the next pass, and what a pass says of them
    draft      tokens that a row may go on with, from what its document's other rows wrote
    stops      where a row ends, by the host's rule
    ragged     one forward pass over rows of any lengths, without padding
    slots      keys and values of the rows
    attention  attention of packed rows over their slots
    signals    log-probabilities and entropies from logits
    penalty    the token that greedy decoding takes under a repetition penalty
    room       how many rows and tokens at a time
    prompts    prompts that others may copy from
    rows       one prompt that is being answered
    probe      does all this give the model's own logits here?
"""
