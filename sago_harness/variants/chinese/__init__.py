"""What the Chinese operators share: words with tags, sentences, sounds, slips of the hand."""
