"""The table of features: name -> class."""

from __future__ import annotations

from sago_harness.registry import Table
from sago_harness.variants.base import Feature

_HERE = "sago_harness.variants.features"

FEATURES: Table[type[Feature]] = Table(
    "features",
    "feature",
    {
        "politeness_markers": f"{_HERE}.politeness_markers:PolitenessMarkers",
        "casual_markers": f"{_HERE}.casual_markers:CasualMarkers",
        "hedging_markers": f"{_HERE}.hedging_markers:HedgingMarkers",
        "formal_markers": f"{_HERE}.formal_markers:FormalMarkers",
        "filler_words": f"{_HERE}.filler_words:FillerWords",
        "abbreviations": f"{_HERE}.abbreviations:Abbreviations",
        "urgency_markers": f"{_HERE}.urgency_markers:UrgencyMarkers",
        "first_person": f"{_HERE}.first_person:FirstPerson",
        "emoji": f"{_HERE}.emoji:EmojiRate",
        "interjection_markers": f"{_HERE}.interjection_markers:InterjectionMarkers",
        "address_words": f"{_HERE}.address_words:AddressWords",
        "small_talk": f"{_HERE}.small_talk:SmallTalk",
        "extra_spaces": f"{_HERE}.extra_spaces:ExtraSpaces",
        "repeated_marks": f"{_HERE}.repeated_marks:RepeatedMarks",
        "upper_share": f"{_HERE}.upper_share:UpperShare",
        "mark_density": f"{_HERE}.mark_density:MarkDensity",
        "british_spellings": f"{_HERE}.british_spellings:BritishSpellings",
        "mixed_letters": f"{_HERE}.mixed_letters:MixedLetters",
        "fullwidth_share": f"{_HERE}.fullwidth_share:FullwidthShare",
        "line_breaks": f"{_HERE}.line_breaks:LineBreaks",
        "log_length": f"{_HERE}.log_length:LogLength",
        "labels": f"{_HERE}.labels:Labels",
        "list_items": f"{_HERE}.list_items:ListItems",
        "address_share": f"{_HERE}.address_share:AddressShare",
        "final_particles": f"{_HERE}.final_particles:FinalParticles",
        "internet_markers": f"{_HERE}.internet_markers:InternetMarkers",
        "traditional_share": f"{_HERE}.traditional_share:TraditionalShare",
        "mixed_spacing": f"{_HERE}.mixed_spacing:MixedSpacing",
    },
)
